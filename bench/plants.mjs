// The plant store against its own database and against other ways to serve the same search.
//   npm run build:modules && node bench/plants.mjs [--plants 100000] [--seconds 4] [--connections 4] [--peers DIRECTORY]
// DIRECTORY has node_modules with json-server and express, which are measured too where they are there.
// Every contender is a process of its own; samples are taken in turn, so that all meet the same machine.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { openSqlite } from '../build/database/sqlite-engine.js';
import { addUser, startStore } from '../build/plants/store.js';

const { values: options } = parseArgs({
  options: {
    plants: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '4' },
    subscribers: { type: 'string', default: '1000' },
    connections: { type: 'string', default: '4' },
    peers: { type: 'string' },
  },
});
const plantCount = Number(options.plants);
const sampleMs = Number(options.seconds) * 1_000;
const rounds = 3;
const connections = Number(options.connections);
const gateway = fileURLToPath(new URL('../bin/gateway.js', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'plants-bench-'));
const file = join(directory, 'plants.sqlite');
const children = [];

try {
  const { tagCount, common, rare } = await fill();
  if (peer('json-server')) await writeJson();
  console.log(`${plantCount} plants, ${tagCount} tags; Node ${process.version}`);
  const cases = [
    ['two tags, 100 plants', common, 100],
    ['two tags, 20 plants', common, 20],
    ['two rare tags', rare, 100],
  ];
  for (const [name, tags, limit] of cases) await compare(name, tags, limit);
  await memory(common);
  await subscribers(Number(options.subscribers));
  await startUp();
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
}

async function fill() {
  const store = await startStore({ host: '127.0.0.1', port: 0, database: `sqlite:${file}`, log: () => {} });
  await store.drain();
  await addUser(`sqlite:${file}`, { username: 'bench', password: 'bench password' });
  const { writer: engine } = await openSqlite(file);
  const plant = engine.prepare(
    'insert into plants (name, category, status, tags) values (?, null, ?, ?) returning id',
  );
  const tag = engine.prepare('insert into plant_tags (tag_key, plant_id) values (?, ?)');
  const statuses = ['available', 'pending', 'sold'];
  let seed = 42;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  // A few tags are common and most are rare, as in any catalogue: 3.5 a plant.
  const pick = () => `tag${Math.floor(random() ** 3 * 2_000)}`;
  let tagCount = 0;
  engine.exec('begin');
  for (let i = 0; i < plantCount; i += 1) {
    const tags = [...new Set(Array.from({ length: 2 + Math.floor(random() * 4) }, pick))];
    const [{ id }] = plant.all(`Plant number ${i}`, statuses[i % 3], JSON.stringify(tags));
    for (const name of tags) tag.run(name, id);
    tagCount += tags.length;
  }
  engine.exec('commit; analyze');
  engine.close();
  return { tagCount, common: ['tag0', 'tag3'], rare: ['tag1700', 'tag1900'] };
}

async function compare(name, tags, limit) {
  const driver = await direct(tags, limit);
  const expected = driver.query().map(({ id }) => id);
  const contenders = [
    ['SQLite driver, in process', async () => driver.sample],
    [
      'gateway plants serve',
      () => served(storeArguments(), `/v3/plant/search/tags?tags=${tags}&limit=${limit}`),
    ],
    ['node:http, by hand', () => served(handmade('node:http'), `/?tags=${tags}&limit=${limit}`)],
  ];
  if (peer('express')) {
    contenders.push(['express, by hand', () => served(handmade('express'), `/?tags=${tags}&limit=${limit}`)]);
  }
  if (peer('json-server')) {
    const pattern = encodeURIComponent(`(^|,)(${tags.join('|')})(,|$)`);
    contenders.push([
      'json-server',
      async () => served(await jsonServer(), `/plants?tags_like=${pattern}&_limit=${limit}`),
    ]);
  }
  const results = [];
  for (const [title, open] of contenders) results.push({ title, sample: await open(), samples: [] });
  for (let round = 0; round < rounds; round += 1) {
    for (const result of results) result.samples.push(await result.sample(expected));
  }
  console.log(
    `\n${name} (${tags}; ${expected.length} plants an answer), ${rounds} × ${sampleMs / 1_000} s, ${connections} connections`,
  );
  const of = ({ samples }, key) => median(samples.map((sample) => sample[key]));
  for (const result of results) {
    const rate = (100 * of(result, 'perSecond')) / of(results[0], 'perSecond');
    const cpu = (100 * of(results[0], 'cpu')) / of(result, 'cpu');
    console.log(
      `  ${result.title.padEnd(26)} ${of(result, 'perSecond').toFixed(0).padStart(6)}/s (${rate.toFixed(0).padStart(3)} %)  CPU ${micro(of(result, 'cpu'))} (${cpu.toFixed(0).padStart(3)} %)  p50 ${micro(of(result, 'p50'))}  p99 ${micro(of(result, 'p99'))}`,
    );
  }
  for (const child of children.splice(0)) child.kill('SIGKILL');
  driver.engine.close();
}

/** The same statement as the service runs, on a connection of this process. */
async function direct(tags, limit) {
  const { writer: engine } = await openSqlite(file);
  const branch =
    'select plant_id from (select plant_id from plant_tags where tag_key = ? and plant_id > ? order by plant_id limit ?)';
  const statement = engine.prepare(
    `select id, name, category, status, tags from (${tags.map(() => branch).join(' union ')}) as found inner join plants on plants.id = found.plant_id order by id limit ?`,
  );
  const parameters = [...tags.flatMap((tag) => [tag, 0, limit + 1]), limit + 1];
  const query = () => statement.all(...parameters).slice(0, limit);
  // The engine goes with it: collected before its statements, it would take the process with it.
  return { engine, query, sample: () => measure(async () => query(), { cpuMs: () => ownCpuMs() }) };
}

async function served({ command, args, ready }, path) {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, XDG_STATE_HOME: directory },
  });
  children.push(child);
  const base = await ready(child);
  child.stdout.resume();
  child.stderr.resume();
  return async (expected) => {
    // Fresh connections for each sample: the old ones were idle for longer than some servers keep them.
    const pool = await openPool(new URL(path, base), connections);
    const ids = JSON.parse(await pool.read()).map(({ id }) => Number(id));
    if (JSON.stringify(ids) !== JSON.stringify(expected))
      throw new Error(`${path} gives other plants: ${ids.slice(0, 5)}`);
    const sample = await measure(pool.exchange, { atOnce: connections, cpuMs: () => cpuMsOf(child.pid) });
    pool.close();
    return sample;
  };
}

function storeArguments() {
  return {
    command: process.execPath,
    args: [gateway, 'plants', 'serve', '-p', '0', '--database', `sqlite:${file}`],
    ready: (child) => lineOf(child.stderr, /http:\/\/[^/]+/),
  };
}

/** What somebody would write by hand: the same query, an answer made with JSON.stringify. */
function handmade(framework) {
  const script = join(directory, `${framework.replace(':', '-')}.mjs`);
  const engine = pathToFileURL(fileURLToPath(new URL('../build/database/sqlite-engine.js', import.meta.url)));
  const listen =
    framework === 'express'
      ? `import { createRequire } from 'node:module';
const express = createRequire(${JSON.stringify(join(options.peers ?? '', 'x.js'))})('express');
const app = express(); app.get('/', (request, response) => response.json(search(request.query.tags.split(','), Number(request.query.limit))));
const server = app.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`
      : `import { createServer } from 'node:http';
const server = createServer((request, response) => {
  const query = new URL(request.url, 'http://x').searchParams;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(search(query.get('tags').split(','), Number(query.get('limit')))));
}).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`;
  writeFileSync(
    script,
    `import { openSqlite } from '${engine}';
const { writer: engine } = await openSqlite(${JSON.stringify(file)});
globalThis.engine = engine;
const statement = engine.prepare("select id, name, category, status, tags from plants where id in (select plant_id from plant_tags where tag_key in (?, ?)) order by id limit ?");
const search = (tags, limit) => statement.all(...tags, limit).map((row) => ({ ...row, tags: JSON.parse(row.tags) }));
${listen}
`,
  );
  return {
    command: process.execPath,
    args: [script],
    ready: (child) => lineOf(child.stdout, /http:\/\/\S+/),
  };
}

async function jsonServer() {
  const port = String(await freePort());
  return {
    command: process.execPath,
    args: [
      peer('json-server'),
      join(directory, 'plants.json'),
      '--port',
      port,
      '--host',
      '127.0.0.1',
      '--quiet',
    ],
    ready: () => answering(`http://127.0.0.1:${port}`),
  };
}

async function writeJson() {
  const { writer: engine } = await openSqlite(file);
  const rows = engine.prepare('select id, name, status, tags from plants order by id').all();
  engine.close();
  const plants = rows.map((row) => ({ ...row, tags: JSON.parse(row.tags) }));
  writeFileSync(join(directory, 'plants.json'), JSON.stringify({ plants }));
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** For a server that does not say when it is ready. */
async function answering(url) {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isThere) return url;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nothing answers at ${url}`);
}

function peer(name) {
  if (options.peers === undefined) return undefined;
  try {
    const path = createRequire(join(options.peers, 'x.js')).resolve(`${name}/package.json`);
    const { bin } = JSON.parse(readFileSync(path, 'utf8'));
    return bin === undefined ? path : join(path, '..', typeof bin === 'string' ? bin : bin[name]);
  } catch {
    return undefined;
  }
}

/** Resident memory of the service after each of several bursts from 50 connections. */
async function memory(tags) {
  const child = spawn(process.execPath, storeArguments().args, { stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  const base = await lineOf(child.stderr, /http:\/\/[^/]+/);
  child.stderr.resume();
  const pool = await openPool(new URL(`/v3/plant/search/tags?tags=${tags}`, base), 50);
  const sizes = [];
  for (let burst = 0; burst < 6; burst += 1) {
    const { perSecond } = await measure(pool.exchange, { atOnce: 50, cpuMs: () => cpuMsOf(child.pid) });
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    sizes.push(
      `${(Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024).toFixed(0)} MB at ${perSecond.toFixed(0)}/s`,
    );
  }
  console.log(`\nmemory after bursts of searches from 50 connections: ${sizes.join(', ')}`);
  child.kill('SIGKILL');
}

/** How long after the write was sent each of many subscribers has the event. */
async function subscribers(count) {
  const child = spawn(process.execPath, storeArguments().args, { stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  const base = `${await lineOf(child.stderr, /http:\/\/[^/]+/)}/v3`;
  child.stderr.resume();
  const login = await fetch(`${base}/user/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'bench', password: 'bench password' }),
  });
  const { token } = await login.json();
  const headers = { authorization: `Bearer ${token}` };
  let arrivals = [];
  let all = () => {};
  const open = async () => {
    const socket = new WebSocket(`${base.replace('http', 'ws')}/ws/plants`, {
      headers,
      perMessageDeflate: false,
    });
    await once(socket, 'open');
    socket.send('{"action":"subscribe"}');
    socket.ping();
    await once(socket, 'pong');
    socket.on('message', () => {
      arrivals.push(performance.now());
      if (arrivals.length === count) all();
    });
    return socket;
  };
  const sockets = [];
  for (let i = 0; i < count; i += 50)
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(50, count - i) }, open))));
  const delays = [];
  for (let event = 0; event < 30; event += 1) {
    arrivals = [];
    const everybody = new Promise((resolve) => {
      all = resolve;
    });
    const startedAt = performance.now();
    const response = await fetch(`${base}/plant`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Event ${event}`, tags: ['bench'] }),
    });
    await response.text();
    await everybody;
    delays.push(...arrivals.map((at) => at - startedAt));
  }
  delays.sort((a, b) => a - b);
  const at = (share) => `${delays[Math.floor((delays.length - 1) * share)].toFixed(1)} ms`;
  console.log(
    `\n${count} subscribers, 30 events, from sending the write: p50 ${at(0.5)}, p99 ${at(0.99)}, last ${at(1)}`,
  );
  for (const socket of sockets) socket.terminate();
  child.kill('SIGKILL');
}

/** CPU of one short search by the command, beside a Node that does nothing. */
async function startUp() {
  const child = spawn(process.execPath, storeArguments().args, { stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  const url = await lineOf(child.stderr, /http:\/\/[^/]+/);
  child.stderr.resume();
  const cases = [
    ['node -e 0', ['-e', '0']],
    ['gateway --version', [gateway, '--version']],
    ['gateway plants search', [gateway, 'plants', 'search', '--limit', '5']],
  ];
  const samples = cases.map(() => []);
  for (let round = 0; round < 15; round += 1) {
    for (const [at, [, args]] of cases.entries()) samples[at].push(cpuOf(args, url));
  }
  console.log('\nCPU of a command, median of 15');
  for (const [at, [name]] of cases.entries())
    console.log(`  ${name.padEnd(24)} ${median(samples[at]).toFixed(0)} ms`);
}

function cpuOf(args, url) {
  const env = { PATH: process.env.PATH, XDG_STATE_HOME: join(directory, 'state'), PLANTS_URL: url };
  const timed = `TIMEFORMAT='%U %S'; time "$0" "$@" > ${join(directory, 'out')}`;
  const { stderr, status } = spawnSync('bash', ['-c', timed, process.execPath, ...args], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  const [user, system] = stderr.trim().split(/\s+/).slice(-2).map(Number);
  return (user + system) * 1_000;
}

/** Runs the work by so many at once and says how it went. */
async function measure(work, { atOnce = 1, cpuMs }) {
  const times = [];
  const run = async (until) => {
    while (performance.now() < until) {
      const before = performance.now();
      await work();
      times.push(performance.now() - before);
    }
  };
  const runAll = (ms) => Promise.all(Array.from({ length: atOnce }, () => run(performance.now() + ms)));
  await runAll(sampleMs / 4);
  times.length = 0;
  const [startedAt, cpuBefore] = [performance.now(), cpuMs()];
  await runAll(sampleMs);
  const cpu = (cpuMs() - cpuBefore) / times.length;
  const perSecond = (1_000 * times.length) / (performance.now() - startedAt);
  times.sort((a, b) => a - b);
  return { p50: times[times.length >> 1], p99: times[Math.floor(times.length * 0.99)], perSecond, cpu };
}

function ownCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** From the kernel's clock ticks, a hundred a second. */
function cpuMsOf(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

/** One connection that is kept; it costs the client so little that the service is what is measured. */
async function openConnection(url) {
  const socket = connect(Number(url.port), url.hostname).setNoDelay(true);
  await once(socket, 'connect');
  const head = `GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`;
  let take = () => {};
  let fail = () => {};
  let chunks = [];
  let received = 0;
  let wanted = -1;
  socket.on('close', () => fail(new Error(`${url} closed the connection`)));
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    received += chunk.length;
    if (wanted < 0) {
      const start = chunk.indexOf('\r\n\r\n');
      const text = chunk.latin1Slice(0, start);
      if (!text.startsWith('HTTP/1.1 200')) throw new Error(text);
      wanted = start + 4 + Number(/content-length: (\d+)/i.exec(text)[1]);
    }
    if (received < wanted) return;
    const whole = chunks;
    [chunks, received, wanted] = [[], 0, -1];
    take(whole);
  });
  const exchange = () =>
    new Promise((resolve, reject) => {
      [take, fail] = [resolve, reject];
      socket.write(head);
    });
  return {
    exchange,
    read: async () => {
      const text = Buffer.concat(await exchange()).toString();
      return text.slice(text.indexOf('\r\n\r\n') + 4);
    },
    close: () => socket.destroy(),
  };
}

/** Connections that are lent to whoever asks next. */
async function openPool(url, size) {
  const all = await Promise.all(Array.from({ length: size }, () => openConnection(url)));
  const free = [...all];
  return {
    exchange: async () => {
      const connection = free.pop();
      await connection.exchange();
      free.push(connection);
    },
    read: () => all[0].read(),
    close: () => {
      for (const connection of all) connection.close();
    },
  };
}

async function lineOf(stream, pattern) {
  for await (const line of createInterface({ input: stream })) {
    const found = pattern.exec(line);
    if (found !== null) return found[0];
  }
  throw new Error('a contender did not start');
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

function micro(ms) {
  return `${(ms * 1_000).toFixed(0)} µs`.padStart(9);
}
