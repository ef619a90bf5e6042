#!/usr/bin/env node
// What 1,000 unfinished bodies of one key do to the gateway while another key works. Linux only.
//   node bench/unfinished-bodies.mjs [--sockets 1000] [--seconds 15]
// The sockets send all but the last byte of 31 MB each, as far as they are read; a socket that is refused comes again.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '15' },
    flood: { type: 'string' },
  },
});
const bodyBytes = 31e6;
const chunk = Buffer.alloc(64 * 1024, ' ');
const keys = { greedy: 'greedy-project-key-0123456789', other: 'other-project-key-0123456789' };
if (values.flood !== undefined) {
  let refused = 0;
  process.on('SIGTERM', () => {
    console.log(refused);
    process.exit();
  });
  for (let i = 0; i < Number(values.sockets); i += 1) flood(values.flood, () => (refused += 1));
  await new Promise(() => undefined);
}
const folder = mkdtempSync(join(tmpdir(), 'gateway-bodies-'));
const config = join(folder, 'gateway.yaml');
writeFileSync(
  config,
  `providers: { s: { dialect: sandbox } }
models: [{ match: "*", provider: s }]
plants: { store: { enabled: false } }
projects:
  greedy: { keys: [{ id: greedy-one, value: "\${GREEDY}" }] }
  other: { keys: [{ id: other-one, value: "\${OTHER}" }] }
`,
  { mode: 0o600 },
);
const env = { PATH: process.env.PATH, HOME: folder, GREEDY: keys.greedy, OTHER: keys.other };
const program = join(import.meta.dirname, '..', 'bin', 'gateway.js');
const gateway = spawn(process.execPath, [program, 'serve', '-c', config, '-p', '0', '--log', 'json', '-q'], {
  env,
  stdio: ['ignore', 'ignore', 'ignore'],
});
let isOver = false;
const waits = [];
let failed = 0;
try {
  const port = await portOf();
  const idleMb = memoryMb('VmRSS');
  const probe = spawn(process.execPath, [join(import.meta.dirname, 'probe-health.mjs'), String(port)]);
  const worst = lastLine(probe);
  const flooding = spawn(process.execPath, [
    process.argv[1],
    ...['--flood', String(port), '--sockets', values.sockets],
  ]);
  const working = work(port);
  await new Promise((resolve) => setTimeout(resolve, Number(values.seconds) * 1_000));
  isOver = true;
  await working;
  const refused = lastLine(flooding);
  flooding.kill('SIGTERM');
  const peakMb = memoryMb('VmHWM');
  probe.kill('SIGTERM');
  const sorted = waits.sort((a, b) => a - b);
  console.log(
    [
      `sockets ${values.sockets}, ${values.seconds} s; refused ${await refused}`,
      `resident memory: ${idleMb} MB before, ${peakMb} MB at most`,
      `/healthz from another process: ${await worst} ms at most`,
      `the other key: ${waits.length} answers, ${failed} failed, median ${sorted[sorted.length >> 1]?.toFixed(1)} ms, longest ${sorted.at(-1)?.toFixed(1)} ms`,
    ].join('\n'),
  );
} finally {
  isOver = true;
  gateway.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function portOf() {
  for (;;) {
    try {
      return new URL(JSON.parse(readFileSync(join(folder, '.local/state/gateway/running.json'), 'utf8')).url)
        .port;
    } catch {
      if (gateway.exitCode !== null) throw new Error('the gateway ended');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function memoryMb(name) {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'latin1');
  return Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
}

/** What a process prints last, when it has ended. */
function lastLine(child) {
  let text = '';
  child.stdout.on('data', (data) => {
    text += data;
  });
  return new Promise((resolve) => child.on('close', () => resolve(text.trim().split('\n').at(-1))));
}

/** One socket with an unfinished body; another one in its place once it is refused. */
function flood(port, onRefused) {
  const socket = connect(port, '127.0.0.1');
  let left = bodyBytes - 1;
  const send = () => {
    while (left > 0 && !socket.destroyed) {
      left -= chunk.length;
      if (!socket.write(chunk)) return;
    }
  };
  socket.on('drain', send).on('error', () => undefined);
  socket.once('data', (head) => {
    if (head.toString('latin1').includes(' 503 ')) onRefused();
    socket.destroy();
  });
  socket.on('close', () => setTimeout(flood, 200, port, onRefused));
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nauthorization: Bearer ${keys.greedy}\r\ncontent-length: ${bodyBytes}\r\n\r\n`,
  );
  send();
}

/** The other key, one request after the other. */
async function work(port) {
  const agent = new Agent({ keepAlive: true });
  const body = JSON.stringify({ model: 'sandbox-mini', messages: [{ role: 'user', content: 'hello' }] });
  while (!isOver) {
    const began = performance.now();
    const status = await new Promise((resolve) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${keys.other}` };
      const sent = request(
        { port, host: '127.0.0.1', path: '/v1/chat/completions', method: 'POST', agent, headers },
        (response) => response.resume().on('end', () => resolve(response.statusCode)),
      );
      sent.on('error', () => resolve(0)).end(body);
    });
    if (status === 200) waits.push(performance.now() - began);
    else failed += 1;
  }
}
