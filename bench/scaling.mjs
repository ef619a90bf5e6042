#!/usr/bin/env node
// node bench/scaling.mjs [--seconds 5] [--rounds 3]: what limits and the ledger cost a request, in the gateway and in
// Redis and PostgreSQL, and whether that stays the same with a second gateway at both. For docs/scaling.md.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bodies, streamBody } from './bodies.mjs';
import { writeBody, wrkCommand } from './measure-json.mjs';
import { startPostgres } from './postgres.mjs';
import { cores, cpuOf, freePort, launch, residentOf, runLoad, stop } from './processes.mjs';
import { startJsonProvider, startStreamProvider } from './providers.mjs';
import { startRedis } from './redis.mjs';
import { path, untilAnswered } from './request.mjs';
import { key } from './start.mjs';
import { median } from './summarize.mjs';

const option = (name, otherwise) => Number(process.argv[process.argv.indexOf(`--${name}`) + 1] || otherwise);
const seconds = process.argv.includes('--seconds') ? option('seconds', 5) : 5;
const rounds = process.argv.includes('--rounds') ? option('rounds', 3) : 3;
const connections = 64;
const folder = mkdtempSync(join(tmpdir(), 'gateway-scaling-'));
const bin = join(import.meta.dirname, '../bin/gateway.js');

const redis = await startRedis(folder);
const postgres = await startPostgres();
const json = await startJsonProvider(folder);
const streams = await startStreamProvider();
const file = writeBody(join(folder, 'small.json'), bodies.small);

const limits =
  'limits: { requests_per_minute: 1000000000, tokens_per_day: 1000000000, concurrent_requests: 100000 }';
const settings = [
  { name: 'nothing', state: 'memory', ledger: 'ledger: false', limits: '', gateways: 1 },
  {
    name: 'limits in memory, ledger in SQLite',
    state: 'memory',
    ledger: 'ledger: true',
    limits,
    gateways: 1,
  },
  { name: 'limits in Redis', state: redis.url, ledger: 'ledger: false', limits, gateways: 1 },
  {
    name: 'Redis and PostgreSQL',
    state: redis.url,
    ledger: `ledger_database: "${postgres.url}"`,
    limits,
    gateways: 1,
  },
  {
    name: 'two gateways at them',
    state: redis.url,
    ledger: `ledger_database: "${postgres.url}"`,
    limits,
    gateways: 2,
  },
];

try {
  const samples = new Map(settings.map(({ name }) => [name, []]));
  for (const setting of settings) setting.started = await startGateways(setting);
  // As long for each gateway: two share the requests of one.
  for (const setting of settings) await load(setting, 3 * setting.gateways);
  for (let round = 0; round < rounds; round += 1) {
    for (const setting of settings) samples.get(setting.name).push(await sample(setting));
  }
  const rows = settings.map(({ name }) => {
    const of = (field) => Math.round(median(samples.get(name).map((each) => each[field])));
    const { failed } = samples.get(name).reduce((sum, each) => ({ failed: sum.failed + each.failed }));
    return {
      what: name,
      gateway: of('gateway'),
      redis: of('redis'),
      postgres: of('postgres'),
      rate: of('rate'),
      p50: of('p50'),
      failed,
    };
  });
  console.log('CPU µs for a request (median of rounds), requests/s and p50 µs of this machine');
  console.table(rows);
  console.table([await sampleStreams(settings[3])]);
  const bytes = execFileSync('psql', [
    postgres.url,
    '-Atc',
    "select pg_total_relation_size('ledger_exchanges') / count(*) from ledger_exchanges",
  ]);
  console.log(`bytes of a row in PostgreSQL, indexes included: ${String(bytes).trim()}`);
} finally {
  for (const { started = [] } of settings) for (const { child } of started) await stop(child);
  for (const each of [json, streams, redis, postgres]) await each.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function startGateways({ name, state, ledger, limits: own, gateways }) {
  const started = [];
  for (let i = 0; i < gateways; i += 1) {
    const home = join(folder, `${name.replaceAll(/\W+/g, '-')}-${i}`);
    mkdirSync(home);
    const port = await freePort();
    const yaml = `
server: { port: ${port} }
state: ${state}
records: { ${ledger} }
plants: { store: { enabled: false } }
providers:
  json: { dialect: openai, base_url: "http://127.0.0.1:${json.port}/v1", endpoints: [chat] }
  streams: { dialect: openai, base_url: "http://127.0.0.1:${streams.port}/v1", endpoints: [chat], connections: 10000 }
models: [{ match: "*stream*", provider: streams }, { match: "*", provider: json }]
projects: { bench: { ${own === '' ? '' : `${own}, `}keys: [{ id: bench, value: "\${BENCH_KEY}" }] } }
`;
    writeFileSync(join(home, 'gateway.yaml'), yaml, { mode: 0o600 });
    const child = launch({
      command: [process.execPath, bin, 'serve', '--config', join(home, 'gateway.yaml'), '--quiet'],
      environment: { HOME: home, BENCH_KEY: key },
      core: cores.contender,
      cwd: home,
    });
    const target = { port, headers: { authorization: `Bearer ${key}` }, child };
    await untilAnswered({ ...target, body: bodies.small() }, child);
    started.push(target);
  }
  return started;
}

function load({ started }, duration) {
  return Promise.all(
    started.map((target) =>
      runLoad(
        wrkCommand(target, { file, connections: connections / started.length, seconds: duration }),
        duration + 20,
      ),
    ),
  );
}

async function sample(setting) {
  const cpu = () => ({
    gateway: setting.started.reduce((sum, { child }) => sum + cpuOf(child.pid), 0),
    redis: cpuOf(redis.pid),
    postgres: cpuOf(postgres.pid),
  });
  const before = cpu();
  const results = await load(setting, seconds);
  const after = cpu();
  const requests = results.reduce((sum, each) => sum + each.requests, 0);
  const each = (field) => (after[field] - before[field]) / requests;
  return {
    gateway: each('gateway'),
    redis: each('redis'),
    postgres: each('postgres'),
    rate: results.reduce((sum, { requests: count, micros }) => sum + (count / micros) * 1e6, 0),
    p50: Math.max(...results.map(({ p50 }) => p50)),
    failed: results.reduce((sum, { failed }) => sum + failed, 0),
  };
}

/** 300 streams of 20 events a second, which is what a model writes. */
async function sampleStreams({ started }) {
  const [{ port, headers, child }] = started;
  const [count, events, gapMs] = [300, 200, 50];
  const body = streamBody({ events, gapMs })
    .toString()
    .replace(/"model":"[^"]*"/, '"model":"stream"');
  const options = { port, path, headers, body, streams: count, events };
  const run = (changes) =>
    runLoad(
      [
        process.execPath,
        join(import.meta.dirname, 'load-streams.mjs'),
        JSON.stringify({ ...options, ...changes }),
      ],
      60,
    );
  const warm = body.replace(/Give \d+ events, one every \d+ ms/, 'Give 50 events, one every 0 ms');
  for (let i = 0; i < 3; i += 1) await run({ body: warm, events: 50 });
  const idleMb = residentOf(child.pid);
  const before = cpuOf(child.pid);
  let openMb = 0;
  const watch = setInterval(() => {
    openMb = Math.max(openMb, residentOf(child.pid));
  }, 1_000);
  const { failed } = await run({});
  clearInterval(watch);
  const cpu = cpuOf(child.pid) - before;
  return {
    what: `${count} streams, ${1_000 / gapMs} events a second`,
    'CPU µs an event': Math.round(cpu / (count * events)),
    'CPU ms a stream and second': Number((cpu / 1_000 / count / ((events * gapMs) / 1_000)).toFixed(2)),
    'KB a stream': Math.round(((openMb - idleMb) * 1_024) / count),
    failed,
  };
}
