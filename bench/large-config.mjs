#!/usr/bin/env node
// CPU time from the start of `gateway serve` until it listens, with a large configuration, as ratios to an empty one,
// interleaved. Linux only.
//   node bench/large-config.mjs [--rounds 5] [--entries 10000]
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, entries: { type: 'string', default: '10000' } },
});
const folder = mkdtempSync(join(tmpdir(), 'gateway-large-config-'));
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const digest = (i) => createHash('sha256').update(`key ${i}`).digest('hex');
const list = (entry) => Array.from({ length: Number(values.entries) }, (_, i) => entry(i)).join('');
const sandbox = 'providers: { sandbox: { dialect: sandbox } }\n';
const policies = 'policies: { house: { apply: all, rules: [] } }\n';
const key = (i, limits) => `      - { id: key-${i}, hash: "sha256:${digest(i)}", limits: { ${limits} } }\n`;
const files = {
  empty: '{}\n',
  'keys with a limit': `${sandbox}${policies}projects:\n  shop:\n    keys:\n${list((i) => key(i, 'requests_per_minute: 600'))}`,
  'keys with three': `${sandbox}${policies}projects:\n  shop:\n    keys:\n${list((i) => key(i, 'requests_per_minute: 600, tokens_per_day: 1000000, usd_per_day: 20'))}`,
  models: `${sandbox}models:\n${list((i) => `  - { match: model-${i}, provider: sandbox, model: sandbox-mini }\n`)}`,
};

/** CPU milliseconds of a start (proc(5): utime, stime; 100 ticks a second). */
function startOnce(file) {
  const home = mkdtempSync(join(folder, 'home-'));
  const gateway = join(import.meta.dirname, '..', 'bin', 'gateway.js');
  const args = [gateway, 'serve', '-c', file, '-p', '0', '--plants-port', '0', '--log', 'json'];
  const env = { ...inherited, HOME: home, XDG_STATE_HOME: home };
  const child = spawn(process.execPath, args, { cwd: home, env, stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)));
    child.stderr.on('data', (chunk) => {
      text += chunk;
      if (!text.includes('listening')) return;
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      child
        .removeAllListeners('exit')
        .once('exit', () => resolve((Number(fields[11]) + Number(fields[12])) * 10));
      child.stderr.removeAllListeners('data').resume();
      child.kill('SIGKILL');
    });
  });
}

const samples = Object.fromEntries(Object.keys(files).map((name) => [name, []]));
try {
  for (let round = -1; round < Number(values.rounds); round += 1) {
    for (const [name, text] of Object.entries(files)) {
      const file = join(folder, 'gateway.yaml');
      writeFileSync(file, text, { mode: 0o600 });
      const cpuMs = await startOnce(file);
      // The first round warms the disk cache.
      if (round >= 0) samples[name].push(cpuMs);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
const median = (all) => all.toSorted((a, b) => a - b)[all.length >> 1];
for (const [name, all] of Object.entries(samples)) {
  const ratio = median(all) / median(samples.empty);
  console.log(`${name.padEnd(20)} ${median(all).toFixed(0).padStart(6)} ms CPU  ${ratio.toFixed(2)} ×`);
}
