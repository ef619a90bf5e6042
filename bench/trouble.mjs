// One gateway's trouble must not be everybody's: its memory and the latency of /healthz while
//  - hosts answer JSON in pieces of one byte, which are read whole because they are translated;
//  - clients ask for an endless stream and don't read it.
//   npm run build && node bench/trouble.mjs [megabytes per answer, 32] [seconds of each trouble at most, 120]
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';

const megabytes = Number(process.argv[2] ?? 32);
const seconds = Number(process.argv[3] ?? 120);
const key = 'bench-project-key-0123456789';
const hostCount = 4;
const clientCount = 100;
/** An endless stream to clients that don't read shows within this time whether it is held back. */
const standstillMs = 15_000;

const directory = mkdtempSync(join(tmpdir(), 'gateway-trouble-'));
const program = join(import.meta.dirname, '..', 'bin', 'gateway.js');

const host = fork(join(import.meta.dirname, 'trouble-host.mjs'), [String(megabytes)]);
const port = await new Promise((resolve) => host.once('message', resolve));

writeFileSync(
  join(directory, 'gateway.yaml'),
  `
server: { port: 0 }
plants: { store: { enabled: false } }
providers:
  local: { dialect: openai, base_url: "http://127.0.0.1:${port}/v1", endpoints: [chat] }
models: [{ match: local, provider: local }]
projects: { bench: { keys: [{ id: bench, value: "\${BENCH_KEY}" }] } }
`,
  { mode: 0o600 },
);
const child = spawn(
  process.execPath,
  [program, 'serve', '-c', join(directory, 'gateway.yaml'), '--no-watch', '--log', 'json'],
  { env: { ...process.env, BENCH_KEY: key, XDG_STATE_HOME: directory }, stdio: ['ignore', 'ignore', 'pipe'] },
);

const url = await new Promise((resolve, reject) => {
  let log = '';
  const read = (data) => {
    log += data;
    const gateway = /"url":"(http:[^"]+)"[^\n]*"msg":"listening"/.exec(log)?.[1];
    if (gateway === undefined) return;
    child.stderr.off('data', read).resume();
    resolve(gateway);
  };
  child.stderr.on('data', read);
  child.once('exit', () => reject(new Error(`the gateway did not start: ${log}`)));
});

const residentMb = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const health = () =>
  new Promise((resolve, reject) => {
    const started = performance.now();
    get(`${url}/healthz`, (answer) => {
      answer.resume().on('end', () => resolve(performance.now() - started));
    }).on('error', reject);
  });

/** Asks for /healthz and looks at the memory until something ends. */
async function watch(label, trouble) {
  const before = residentMb();
  let peak = before;
  const times = [];
  let isOver = false;
  const started = performance.now();
  const ended = Promise.race([trouble(), wait(seconds * 1000, 'out of time', { ref: false })]).then(
    (outcome) => {
      isOver = true;
      return outcome;
    },
  );
  while (!isOver) {
    times.push(await health());
    peak = Math.max(peak, residentMb());
    await wait(20);
  }
  const outcome = await ended;
  times.sort((one, other) => one - other);
  const at = (share) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1);
  console.log(
    `${label}: ${((performance.now() - started) / 1000).toFixed(1)} s, memory ${before.toFixed(0)} -> ${peak.toFixed(0)} MB; /healthz ${times.length} times, median ${at(0.5)} ms, 99 % ${at(0.99)} ms, worst ${at(1)} ms; ${outcome}`,
  );
}

const asking = (path, body) =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nauthorization: Bearer ${key}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const bodyOf = (stream) =>
  JSON.stringify({ model: 'local', max_tokens: 100, stream, messages: [{ role: 'user', content: 'hello' }] });

function countOf(statuses) {
  const counts = new Map();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} × ${status}`).join(', ');
}

try {
  await watch('nothing', () => wait(3_000, 'idle'));
  await watch(`${hostCount} answers of ${megabytes} MB in single bytes`, async () => {
    const statuses = await Promise.all(
      Array.from({ length: hostCount }, async () => {
        const answer = await fetch(`${url}/v1/messages`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-api-key': key,
            'anthropic-version': '2023-06-01',
          },
          body: bodyOf(false),
        });
        let bytes = 0;
        for await (const chunk of answer.body) bytes += chunk.length;
        return `${answer.status} with ${(bytes / 2 ** 20).toFixed(0)} MB`;
      }),
    );
    return countOf(statuses);
  });
  const sockets = [];
  await watch(`${clientCount} clients that don't read an endless stream`, async () => {
    for (let at = 0; at < clientCount; at += 1) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.pause();
      socket.write(asking('/v1/chat/completions', bodyOf(true)));
      sockets.push(socket);
    }
    await wait(standstillMs);
    const { streams, bytes } = await new Promise((resolve) => {
      host.once('message', resolve);
      host.send('count');
    });
    return `${streams} streams, of which ${(bytes / 2 ** 20).toFixed(0)} MB were taken, most by the kernel`;
  });
  for (const socket of sockets) socket.destroy();
} finally {
  child.kill('SIGTERM');
  host.kill();
  rmSync(directory, { recursive: true, force: true });
}
process.exit();
