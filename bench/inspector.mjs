#!/usr/bin/env node
// What the live page costs the gateway: CPU time an exchange without the page, with it and nobody looking, with one
// page open and with ten. First with as many exchanges as eight connections ask for, then with 200 a second.
//   node bench/inspector.mjs [--rounds 24] [--exchanges 200] [--seconds 0.5] [--only off,one]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuOf, freePort, launch, residentOf, stop } from './processes.mjs';
import { key } from './start.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '24' },
    exchanges: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '0.5' },
    only: { type: 'string', default: 'off,nobody,one,ten' },
  },
});
const [rounds, exchanges, seconds] = [values.rounds, values.exchanges, values.seconds].map(Number);
const connections = 8;
const perSecond = 200;
const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'word '.repeat(60) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 40, completion_tokens: 60, total_tokens: 100 },
});
const body = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'Explain what a reverse proxy does.' }],
});

const provider = createServer((incoming, outgoing) => {
  incoming
    .resume()
    .on('end', () => outgoing.writeHead(200, { 'content-type': 'application/json' }).end(answer));
});
await new Promise((resolve) => provider.listen(0, '127.0.0.1', resolve));

const variants = [];
for (const [name, enabled, viewers] of [
  ['off', false, 0],
  ['nobody', true, 0],
  ['one', true, 1],
  ['ten', true, 10],
]) {
  if (values.only.split(',').includes(name))
    variants.push({ name, ...(await startGateway(enabled, viewers)), bursts: [], paced: [] });
}
for (const variant of variants) await burst(variant, 1_500); // warm
for (let round = 0; round < rounds; round += 1) {
  const order = round % 2 === 0 ? variants : variants.toReversed();
  for (const variant of order) variant.bursts.push(await cost(variant, () => burst(variant, exchanges)));
  for (const variant of order) variant.paced.push(await cost(variant, () => pace(variant)));
}
report('as many as eight connections ask for', 'bursts');
report(`${perSecond} a second`, 'paced');
for (const { name, child, events } of variants) {
  console.log(`${name.padEnd(8)} ${residentOf(child.pid)} MB resident, ${events.bytes} bytes of events sent`);
}
for (const { child, home } of variants) {
  await stop(child);
  rmSync(home, { recursive: true });
}
provider.close();
provider.closeAllConnections();

async function startGateway(enabled, viewers) {
  const home = mkdtempSync(join(tmpdir(), 'gateway-inspector-bench-'));
  const port = await freePort();
  const file = join(home, 'gateway.yaml');
  writeFileSync(
    file,
    `plants: { store: { enabled: false } }
inspector: { enabled: ${enabled} }
records: { ledger: false }
providers: { host: { dialect: openai, base_url: "http://127.0.0.1:${provider.address().port}/v1", connections: 64 } }
models: [{ match: m, provider: host }]
projects: { shop: { keys: [{ id: web, value: "\${BENCH_KEY}" }] } }
`,
    { mode: 0o600 },
  );
  const command = [
    process.execPath,
    'bin/gateway.js',
    'serve',
    '-c',
    file,
    '-p',
    String(port),
    '-q',
    '--log',
    'json',
  ];
  const child = launch({ command, environment: { HOME: home, BENCH_KEY: key }, core: '1' });
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  for (let tries = 0; ; tries += 1) {
    try {
      await ask({ port, agent });
      break;
    } catch (error) {
      if (tries > 100) throw error;
      await wait(100);
    }
  }
  const events = { bytes: 0 };
  if (viewers > 0) {
    const session = await openSession(port, home);
    for (let i = 0; i < viewers; i += 1) await follow(port, session, events);
  }
  return { child, home, port, agent, events };
}

async function openSession(port, home) {
  const { proof } = JSON.parse(readFileSync(join(home, '.local/state/gateway/running.json'), 'utf8'));
  const base = `http://127.0.0.1:${port}/_/api`;
  const link = await fetch(`${base}/link`, {
    method: 'POST',
    headers: { 'x-gateway-challenge': proof.challenge },
  });
  const { token } = await link.json();
  const opened = await fetch(`${base}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const session = await opened.json();
  return { cookie: opened.headers.get('set-cookie').split(';')[0], 'x-inspector-key': session.key };
}

function follow(port, headers, events) {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/_/api/events', headers, agent: false }, (response) => {
      response.on('data', (chunk) => {
        events.bytes += chunk.length;
      });
      resolve();
    })
      .on('error', reject)
      .end();
  });
}

function ask({ port, agent }) {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'bench/1.0',
    };
    request(
      { port, host: '127.0.0.1', path: '/v1/chat/completions', method: 'POST', headers, agent },
      (response) => {
        response
          .resume()
          .on('end', () =>
            response.statusCode === 200 ? resolve() : reject(new Error(`status ${response.statusCode}`)),
          );
      },
    )
      .on('error', reject)
      .end(body);
  });
}

async function burst(variant, count) {
  let left = count;
  const work = async () => {
    while (left-- > 0) await ask(variant);
  };
  await Promise.all(Array.from({ length: connections }, work));
  return count;
}

async function pace(variant) {
  const count = perSecond * seconds;
  const startedAt = performance.now();
  const asked = [];
  for (let i = 0; i < count; i += 1) {
    const due = startedAt + (i * 1_000) / perSecond - performance.now();
    if (due > 1) await wait(due);
    asked.push(ask(variant));
  }
  await Promise.all(asked);
  return count;
}

/** CPU time of the gateway an exchange, in microseconds, events that follow included. */
async function cost({ child }, load) {
  const before = cpuOf(child.pid);
  const count = await load();
  await wait(150);
  return (cpuOf(child.pid) - before) / count;
}

/** Rounds are short and compared each with its own, since the machine changes from second to second. */
function report(title, field) {
  const [off] = variants;
  console.log(
    `\n${title}: µs of CPU an exchange (mean), and the ratio to "${off.name}" (of the means; median and quartiles of the rounds)`,
  );
  for (const variant of variants) {
    const ratios = variant[field].map((each, i) => each / off[field][i]);
    const quartiles = [0.5, 0.25, 0.75].map((share) => quantile(ratios, share).toFixed(3));
    const ratio = mean(variant[field]) / mean(off[field]);
    const [middle, low, high] = quartiles;
    console.log(
      `${variant.name.padEnd(8)} ${mean(variant[field]).toFixed(1).padStart(7)}   ${ratio.toFixed(3)}   ${middle} (${low}-${high})`,
    );
  }
}

function mean(list) {
  return list.reduce((sum, each) => sum + each, 0) / list.length;
}

function quantile(list, share) {
  return list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * share)];
}
