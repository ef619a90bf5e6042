// npm run build && node bench/latency.mjs [requests]: how many milliseconds the gateway adds, one request at a time on
// one kept connection: to whole answers, and to the first byte of streams. Direct requests and those through the
// gateway take turns, so that both see the same machine; the difference is that of neighbours.
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bodies, streamBody } from './bodies.mjs';
import { gateway } from './contenders/gateway.mjs';
import { gatewayFacts, machineFacts } from './machine.mjs';
import { cpuOf } from './processes.mjs';
import { startJsonProvider, startStreamProvider } from './providers.mjs';
import { path } from './request.mjs';
import { startContender } from './start.mjs';

const count = Number(process.argv[2] ?? 1000);
const rounds = 3;
const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'gateway-latency-'));
// As `gateway init --mask secrets,email` writes it.
const masking = {
  apply: 'all',
  rules: [
    {
      id: 'secrets',
      action: 'mask',
      reason: 'content.secret',
      when: { text: { detect: [{ secrets: 'possible' }, 'email'] } },
    },
  ],
};
const contender = gateway({
  name: 'gateway',
  root,
  extend: (plain) => ({ ...plain, policies: { house: masking } }),
});

const cases = [
  { name: 'whole answer, request of 250 B', body: bodies.small(), isStream: false, share: 1 },
  { name: 'whole answer, request of 8 KB', body: bodies['8 KB'](), isStream: false, share: 1 },
  { name: 'whole answer, request of 60 KB', body: bodies['60 KB'](), isStream: false, share: 0.5 },
  { name: 'whole answer, request of 360 KB', body: bodies['360 KB'](), isStream: false, share: 0.2 },
  { name: 'first byte of a stream', body: streamBody({ events: 3, gapMs: 0 }), isStream: true, share: 1 },
];

const results = [];
const loads = [loadavg()[0]];
try {
  for (const isStream of [false, true]) {
    const provider = await (isStream ? startStreamProvider : startJsonProvider)(folder);
    const firstBody = isStream ? streamBody({ events: 1, gapMs: 0 }) : bodies.small();
    const started = await startContender(contender, { provider, folder, firstBody });
    const targets = {
      direct: { port: provider.port, headers: started.headers, agent: connection() },
      gateway: { port: started.port, headers: started.headers, agent: connection() },
    };
    for (const one of cases.filter((each) => each.isStream === isStream)) {
      results.push({ case: one.name, ...(await measure(one, targets, started.pid)) });
    }
    for (const { agent } of Object.values(targets)) agent.destroy();
    await started.stop();
    await provider.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
loads.push(loadavg()[0]);
console.table(results);
console.log(JSON.stringify({ date: new Date().toISOString(), loads, ...machineFacts(), ...gatewayFacts() }));

async function measure({ body, isStream, share }, targets, pid) {
  const times = { direct: [], gateway: [], added: [] };
  const requests = Math.ceil(count * share);
  let cpu = 0;
  for (let round = 0; round < rounds; round += 1) {
    let before = 0;
    for (let at = -50; at < requests; at += 1) {
      if (at === 0) before = cpuOf(pid);
      // Another word in each request: what is remembered of one must not serve the next.
      const text = body.replaceAll('@@MARK@@', `m${round}x${at + 50}`);
      const order = at % 2 === 0 ? ['direct', 'gateway'] : ['gateway', 'direct'];
      const took = {};
      for (const name of order) took[name] = await timeOf({ ...targets[name], body: text, isStream });
      if (at < 0) continue; // warming up
      times.direct.push(took.direct);
      times.gateway.push(took.gateway);
      times.added.push(took.gateway - took.direct);
    }
    cpu += cpuOf(pid) - before;
  }
  const percentiles = Object.entries(times).flatMap(([name, values]) => [
    [`${name} p50 ms`, percentile(values, 0.5)],
    [`${name} p99 ms`, percentile(values, 0.99)],
  ]);
  return {
    ...Object.fromEntries(percentiles),
    'CPU ms': Number((cpu / (requests * rounds) / 1000).toFixed(2)),
  };
}

/** Milliseconds until the whole answer is there, or the first byte of a stream. */
function timeOf({ port, headers, agent, body, isStream }) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const length = Buffer.byteLength(body);
    const options = { port, host: '127.0.0.1', path, method: 'POST', agent };
    const all = { ...headers, 'content-type': 'application/json', 'content-length': length };
    const request = http.request({ ...options, headers: all }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      let firstAt;
      response.on('data', () => {
        firstAt ??= performance.now();
      });
      response.on('end', () => resolve((isStream ? firstAt : performance.now()) - startedAt));
      response.on('error', reject);
    });
    request.on('error', reject).end(body);
  });
}

function connection() {
  return new http.Agent({ keepAlive: true, maxSockets: 1 });
}

function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return Number(sorted[Math.floor(share * (sorted.length - 1))].toFixed(2));
}
