#!/usr/bin/env node
// What rules on answers cost a stream: CPU time of the gateway for streams of 256 KB of text, with rules and without, by
// turns in one run; and how long /healthz waits while a hundred such streams come at once.
//   npm run build && node bench/answer-rules.mjs [--rounds 5] [--root CHECKOUT]
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { cores, cpuOf, freePort, launch, stop } from './processes.mjs';
import { median } from './summarize.mjs';

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, root: { type: 'string', default: '.' } },
});
const textBytes = 256 * 1024;
const atOnce = 100;
const words =
  'the ended yesterday a plan of harbour street green with seven people who came late to it'.split(' ');
const wordsFrom = (at, count) =>
  Array.from({ length: count }, (_, word) => ` ${words[(at + word) % words.length]}`).join('');
/** The text of the event with a number, and whether it holds a match of each policy. */
const shapes = {
  words: (at) => wordsFrom(at * 7, 12),
  'small words': (at) => wordsFrom(at, 1),
  'a match in 135 characters': (at) => `${wordsFrom(at * 7, 24)} TCK-${100_000 + (at % 900_000)}.`,
  'nothing but matches': (at) => ` TCK-${100_000 + (at % 900_000)}`,
  addresses: (at) => `${wordsFrom(at * 7, 24)} a${at}@example.com.`,
  'a match without end': (at) => (at === 0 ? '<<' : wordsFrom(at * 7, 12)),
};
const redact = (id, text) => ({
  id,
  action: 'redact',
  apply_to: ['response'],
  when: { text },
  reason: `content.${id}`,
});
const policies = {
  patterns: [
    redact('codename', { phrases: ['project nightfall'] }),
    redact('tickets', { regex: ['\\bTCK-[0-9]{6}\\b', '<<[^>]*>>'] }),
  ],
  detectors: [
    redact('personal', { detect: ['credit_card', 'email', 'phone', 'iban', 'us_ssn', 'ip_address'] }),
  ],
};
const keys = Object.fromEntries(
  ['none', ...Object.keys(policies)].map((name) => [name, `gw-bench-${name}-0123456789abcdef0123456789`]),
);

const streams = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, streamOf(shape)]));

function streamOf(shape) {
  const events = [];
  let matches = 0;
  for (let at = 0, length = 0; length < textBytes; at += 1) {
    const content = shape(at);
    length += content.length;
    matches += /TCK|@/.test(content) ? 1 : 0;
    const choices = [{ index: 0, delta: { content }, finish_reason: null }];
    events.push(
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`,
    );
  }
  return { body: Buffer.from(`${events.join('')}data: [DONE]\n\n`), events: events.length, matches };
}

const provider = createServer((message, response) => {
  let body = '';
  message.setEncoding('utf8').on('data', (piece) => {
    body += piece;
  });
  message.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(streams[JSON.parse(body).messages[0].content].body);
  });
});
// On a busy machine it would close an idle connection on which a request has just come.
provider.keepAliveTimeout = 0;
await new Promise((ready) => provider.listen(0, '127.0.0.1', ready));

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const port = await freePort();
const file = join(folder, 'gateway.yaml');
writeFileSync(
  file,
  JSON.stringify({
    providers: {
      p: {
        dialect: 'openai',
        base_url: `http://127.0.0.1:${provider.address().port}/v1`,
        api_key: 'sk-provider-0123456789abcdef',
        connections: 256,
      },
    },
    models: [{ match: '*', provider: 'p' }],
    policies: Object.fromEntries(Object.entries(policies).map(([name, rules]) => [name, { rules }])),
    projects: Object.fromEntries(
      Object.entries(keys).map(([name, key]) => [
        name,
        {
          keys: [{ id: name, hash: `sha256:${hash('sha256', key)}` }],
          ...(name === 'none' ? {} : { policies: [name] }),
        },
      ]),
    ),
    plants: { store: { enabled: false } },
  }),
);
const gateway = launch({
  command: [
    process.execPath,
    join(resolve(options.root), 'bin/gateway.js'),
    'serve',
    '--config',
    file,
    '--port',
    String(port),
    '--no-watch',
    '--quiet',
  ],
  environment: { XDG_STATE_HOME: folder, HOME: folder },
  core: cores.contender,
  cwd: folder,
});
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
await untilHealthy();

console.log(
  'ms of CPU a stream of 256 KB; without rules, with them; µs a match over the same text without; longest wait of /healthz beside a hundred, ms',
);
for (const shape of Object.keys(shapes)) {
  const { events, matches } = streams[shape];
  const costs = Object.fromEntries(Object.keys(keys).map((name) => [name, []]));
  for (const name of Object.keys(keys)) await cpuOfStreams(name, shape);
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const name of Object.keys(keys)) costs[name].push(await cpuOfStreams(name, shape));
  }
  const none = median(costs.none);
  const usual = await longestWait('none', shape);
  for (const name of Object.keys(policies)) {
    const ms = median(costs[name]);
    const wait = await longestWait(name, shape);
    const match =
      matches === 0 ? '' : `, ${(((ms - none) / matches) * 1_000).toFixed(1)} µs a match (${matches})`;
    console.log(
      `${shape}, ${events} events, ${name}: ${none.toFixed(1)} → ${ms.toFixed(1)} (${(ms / none).toFixed(1)} ×)${match}; /healthz ${usual.toFixed(0)} → ${wait.toFixed(0)}`,
    );
  }
}
await stop(gateway);
provider.close();
provider.closeAllConnections();
agent.destroy();

async function cpuOfStreams(name, shape, count = 4) {
  const before = cpuOf(gateway.pid);
  for (let at = 0; at < count; at += 1) await stream(name, shape);
  return (cpuOf(gateway.pid) - before) / count / 1_000;
}

/** Asked by a process of its own: this one reads a hundred streams. */
async function longestWait(name, shape) {
  const probe = launch({
    command: [process.execPath, join(import.meta.dirname, 'probe-health.mjs'), String(port)],
    core: cores.load,
    stdout: 'pipe',
  });
  let answer = '';
  probe.stdout.on('data', (piece) => {
    answer += piece;
  });
  await once(probe.stdout, 'data');
  await Promise.all(Array.from({ length: atOnce }, () => stream(name, shape)));
  probe.kill('SIGTERM');
  await once(probe, 'close');
  return Number(answer.trim().split('\n').at(-1));
}

function stream(name, shape) {
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: shape }] });
  const headers = { authorization: `Bearer ${keys[name]}`, 'content-type': 'application/json' };
  return send({ method: 'POST', path: '/v1/chat/completions', headers, body });
}

function send({ body, ...what }) {
  return new Promise((done, fail) => {
    const sent = request({ host: '127.0.0.1', port, agent, ...what }, (response) => {
      if (response.statusCode !== 200) fail(new Error(`${what.path} answers ${response.statusCode}`));
      response.on('end', done).resume();
    });
    sent.on('error', fail).end(body);
  });
}

async function untilHealthy() {
  for (let time = 0; time < 200; time += 1) {
    try {
      return await send({ method: 'GET', path: '/healthz' });
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  throw new Error(`the gateway does not start: ${gateway.words}`);
}
