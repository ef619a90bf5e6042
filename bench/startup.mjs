#!/usr/bin/env node
// CPU time of whole commands, as ratios to `node -e 0` in the same run, interleaved. Linux only.
//   node bench/startup.mjs [--rounds 15] [--json]
// `send` really sends: it talks to a gateway in sandbox mode, started here with a state directory of its own.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const gateway = join(import.meta.dirname, '..', 'bin', 'gateway.js');
const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 9;
const state = mkdtempSync(join(tmpdir(), 'gateway-startup-'));
// Node 20 parses this file at every start, which is no cost of ours.
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = { ...inherited, XDG_STATE_HOME: state, HOME: state };
// The kernel counts in hundredths of a second: several runs a sample.
const runsPerSample = 10;

const base = 'node -e 0';
const contenders = {
  [base]: { args: ['-e', '0'] },
  'gateway --version': { args: [gateway, '--version'], limit: 1.3 },
  'gateway send hello': { args: [gateway, 'send', 'hello'], limit: 2.2 },
  'gateway plants search': { args: [gateway, 'plants', 'search', '--tags', 'a,b'] },
};

const server = spawn(process.execPath, [gateway, 'serve', '-p', '0', '--plants-port', '0', '--log', 'json'], {
  cwd: state,
  env,
  stdio: ['ignore', 'ignore', 'pipe'],
});
try {
  await listening();
  report(measure());
} finally {
  server.kill('SIGTERM');
  rmSync(state, { recursive: true, force: true });
}

function listening() {
  return new Promise((resolve, reject) => {
    let text = '';
    server.stderr.on('data', (chunk) => {
      text += chunk;
      if (text.includes('listening')) resolve();
    });
    server.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${text}`)));
  });
}

/** CPU milliseconds a run, by contender. */
function measure() {
  const samples = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  // The first round warms the disk cache.
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, { args }] of Object.entries(contenders)) {
      const before = childrenCpuMs();
      for (let i = 0; i < runsPerSample; i += 1) {
        const { status, stderr } = spawnSync(process.execPath, args, { cwd: state, env, encoding: 'utf8' });
        if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
      }
      if (round >= 0) samples[name].push((childrenCpuMs() - before) / runsPerSample);
    }
  }
  return samples;
}

/** User and system time of all ended children (proc(5): cutime, cstime; 100 ticks a second). */
function childrenCpuMs() {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function report(samples) {
  const baseline = median(samples[base]);
  const rows = Object.entries(samples).map(([name, values]) => {
    const cpuMs = median(values);
    return { name, cpu_ms: cpuMs, ratio: cpuMs / baseline, limit: contenders[name].limit };
  });
  if (process.argv.includes('--json'))
    return console.log(JSON.stringify({ node: process.version, rounds, rows }));
  console.log(`node ${process.version}, medians of ${rounds} × ${runsPerSample} runs, interleaved`);
  for (const { name, cpu_ms: cpuMs, ratio, limit } of rows) {
    const goal = limit === undefined ? '' : `(at most ${limit} ×)`;
    console.log(`${name.padEnd(22)} ${cpuMs.toFixed(1).padStart(6)} ms CPU  ${ratio.toFixed(2)} × ${goal}`);
  }
}

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
