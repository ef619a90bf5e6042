#!/usr/bin/env node
// Whether the cost of an exchange is linear in its bytes, whatever its shape, with everything on the way: CPU time of a
// gateway's process, /proc/PID, for bodies and answers of n and 4n bytes, and its ratio to JSON.parse of the same bytes.
// Fails where a body grows by more than 1.3 of linear, or /healthz, asked from another process, waits above 250 ms.
//   npm run build && node bench/linear.mjs [--shapes words,escaped] [--configurations default,rules] [--megabytes 1] [--root CHECKOUT]
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { policies as measured } from './policies.mjs';
import { cores, cpuOf, freePort, launch, stop } from './processes.mjs';
import { shapedStream, streamNames } from './shaped-streams.mjs';
import { shapedBody, shapeNames } from './shapes.mjs';

const { values: options } = parseArgs({
  options: {
    shapes: { type: 'string', default: '' },
    answers: { type: 'string', default: '' },
    configurations: { type: 'string', default: '' },
    megabytes: { type: 'string', default: '1' },
    root: { type: 'string', default: '.' },
  },
});
const largeBytes = Number(options.megabytes) * 1_048_576;
const times = 4;
const allowedGrowth = 1.3;
const allowedWaitMs = 250;
/** Below so many ms of CPU a growth is noise. */
const leastMs = 5;
const key = 'gw-bench-key-0123456789abcdef0123456789';
const chosen = (names, wanted) =>
  names.filter((name) => wanted === '' || wanted.split(',').some((part) => name.includes(part)));

const personal = ['credit_card', 'email', 'phone', 'iban', 'us_ssn', 'ip_address', 'secrets', 'private_key'];
const everything = {
  rules: [
    ...measured.large.map((rule) => ({ ...rule, action: 'warn' })),
    {
      id: 'possible',
      action: 'warn',
      when: { text: { detect: personal.map((name) => ({ [name]: 'possible' })) } },
    },
  ],
};
const answerRules = {
  rules: [
    {
      id: 'tickets',
      action: 'redact',
      apply_to: ['response'],
      when: { text: { regex: ['\\bTCK-[0-9]{6}\\b'], phrases: ['project nightfall'] } },
    },
  ],
};
/** What a configuration adds to the default, and the endpoints that it is asked at. */
const configurations = {
  default: {},
  budgets: {
    model: { pricing: { input: 1, output: 4 } },
    key: { limits: { usd_per_day: 1_000_000 } },
  },
  rules: { policy: everything },
  translated: { endpoints: ['/v1/chat/completions'], dialect: 'anthropic' },
  'bodies kept': { records: { bodies: true } },
  'answers read': { policy: answerRules },
};
const endpoints = ['/v1/messages', '/v1/chat/completions'];

let prepared;
const provider = createServer((message, response) => {
  message.resume().on('end', async () => {
    if (prepared !== undefined) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const { body, writes = body.length } = prepared;
      for (let at = 0; at < body.length && !response.destroyed; at += writes) {
        if (!response.write(body.subarray(at, at + writes))) await once(response, 'drain');
        else if (writes === 1) await new Promise(setImmediate);
      }
      return response.end();
    }
    const isChat = message.url.endsWith('/chat/completions');
    const said = isChat
      ? {
          id: 'c',
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
        }
      : {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: 'end_turn',
          usage: { input_tokens: 1, output_tokens: 1 },
        };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(said));
  });
});
await new Promise((ready) => provider.listen(0, '127.0.0.1', ready));
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const agent = new Agent({ keepAlive: true });
const problems = [];

console.log(
  'configuration | endpoint or stream | shape | ms CPU at n, 4n | growth | × JSON.parse | /healthz ms',
);
for (const name of chosen(Object.keys(configurations), options.configurations)) {
  const configuration = configurations[name];
  for (const endpoint of configuration.endpoints ?? endpoints) {
    const gateway = await start(configuration, endpoint);
    for (const shape of chosen(shapeNames, options.shapes)) {
      await report(gateway, [name, endpoint, shape], (bytes) => shapedBody(shape, bytes, 'm'));
    }
    if (gateway.spoken === 'anthropic') {
      for (const answer of chosen(streamNames, options.answers)) {
        await report(gateway, [name, 'stream', answer], (bytes) => {
          prepared = shapedStream(answer, bytes);
          return Buffer.from(
            '{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hello"}]}',
          );
        });
        prepared = undefined;
      }
    }
    await stop(gateway.child);
  }
}
provider.close();
provider.closeAllConnections();
agent.destroy();
for (const problem of problems) console.log(`failed: ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);

async function report(gateway, names, make) {
  const large = await costOf(gateway, make, largeBytes);
  const small = await costOf(gateway, make, largeBytes / times);
  const growth = large.ms / Math.max(small.ms, leastMs) / times;
  const waitMs = await longestWait(gateway, make);
  const parsed = large.parseMs === undefined ? '' : (large.ms / large.parseMs).toFixed(1);
  const line = `${names.join(' | ')} | ${small.ms.toFixed(1)}, ${large.ms.toFixed(1)} | ${growth.toFixed(2)} | ${parsed} | ${waitMs.toFixed(0)}`;
  console.log(`${line}${large.status === 200 ? '' : ` | ${large.status}`}`);
  if (large.status !== 200) problems.push(`not answered: ${line}`);
  else if (growth > allowedGrowth || waitMs > allowedWaitMs) problems.push(line);
}

/** The least of three, in ms of the gateway's process; and of JSON.parse. */
async function costOf(gateway, make, bytes) {
  const body = make(bytes);
  let ms = Number.POSITIVE_INFINITY;
  let status;
  for (let round = 0; round < 4; round += 1) {
    const before = cpuOf(gateway.child.pid);
    status = await send(gateway, body);
    // In the first round the tables of the automata fill.
    if (round > 0) ms = Math.min(ms, (cpuOf(gateway.child.pid) - before) / 1_000);
  }
  return { ms, status, parseMs: prepared === undefined ? parseMs(body) : undefined };
}

function parseMs(body) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) {
    const before = process.cpuUsage();
    JSON.parse(body.toString());
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** Asked by a process of its own: this one makes the bodies. */
async function longestWait(gateway, make) {
  const body = make(largeBytes);
  const probe = launch({
    command: [process.execPath, join(import.meta.dirname, 'probe-health.mjs'), String(gateway.port)],
    core: cores.load,
    stdout: 'pipe',
  });
  let said = '';
  probe.stdout.on('data', (text) => {
    said += text;
  });
  await once(probe.stdout, 'data');
  await send(gateway, body);
  probe.kill('SIGTERM');
  await once(probe, 'close');
  return Number(said.trim().split('\n').at(-1));
}

function send({ port, path }, body) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': body.length,
    'anthropic-version': '2023-06-01',
  };
  return new Promise((done, fail) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (response) => {
      response.on('end', () => done(response.statusCode)).on('error', () => done('broken off'));
      response.resume();
    });
    sent.on('error', fail).end(body);
  });
}

async function start({ model, key: more, policy, records, dialect }, endpoint) {
  const port = await freePort();
  const state = mkdtempSync(join(folder, 'state-'));
  const file = join(state, 'gateway.yaml');
  const spoken = dialect ?? (endpoint === '/v1/messages' ? 'anthropic' : 'openai');
  const url = `http://127.0.0.1:${provider.address().port}`;
  writeFileSync(
    file,
    JSON.stringify({
      providers: {
        p: {
          dialect: spoken,
          base_url: spoken === 'openai' ? `${url}/v1` : url,
          api_key: 'sk-provider-0123456789abcdef',
        },
      },
      models: [{ match: '*', provider: 'p', ...model }],
      ...(policy !== undefined && { policies: { all: policy } }),
      ...(records !== undefined && { records }),
      projects: {
        bench: {
          keys: [{ id: 'bench', hash: `sha256:${hash('sha256', key)}`, ...more }],
          ...(policy !== undefined && { policies: ['all'] }),
        },
      },
      plants: { store: { enabled: false } },
    }),
  );
  const bin = join(resolve(options.root), 'bin/gateway.js');
  const child = launch({
    command: [
      process.execPath,
      bin,
      'serve',
      '--config',
      file,
      '--port',
      String(port),
      '--no-watch',
      '--quiet',
    ],
    environment: { XDG_STATE_HOME: state, HOME: state },
    core: cores.contender,
    cwd: state,
  });
  const gateway = { child, port, path: endpoint, spoken };
  for (let time = 0; time < 200; time += 1) {
    try {
      await send({ port, path: '/healthz' }, Buffer.alloc(0));
      return gateway;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  throw new Error(`the gateway does not start: ${child.words}`);
}
