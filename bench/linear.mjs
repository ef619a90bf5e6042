#!/usr/bin/env node
// Whether the cost of an exchange is linear in its bytes, whatever its shape, with everything on the way: CPU time of a
// gateway's process, /proc/PID, for bodies and answers of n and 4n bytes, and its ratio to JSON.parse of the same bytes;
// then how long /healthz waits beside one at the body limit, asked from another process. Fails where a row is above a
// bound. Each configuration is a part that can be run by itself:
//   npm run build && node bench/linear.mjs [--configurations default,rules] [--endpoints messages] [--forms bedrock]
//     [--shapes words,escaped] [--answers tiny] [--only requests|answers|streams] [--megabytes 1] [--limit 31] [--root CHECKOUT]
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { policies as measured } from './policies.mjs';
import { cores, cpuOf, freePort, launch, stop } from './processes.mjs';
import { answerNames, shapedAnswer } from './shaped-answers.mjs';
import { shapedStream, streamNamesOf } from './shaped-streams.mjs';
import { shapedBody, shapeNames } from './shapes.mjs';
import { key } from './start.mjs';

const { values: options } = parseArgs({
  options: {
    shapes: { type: 'string', default: '' },
    answers: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    configurations: { type: 'string', default: '' },
    endpoints: { type: 'string', default: '' },
    forms: { type: 'string', default: '' },
    megabytes: { type: 'string', default: '1' },
    limit: { type: 'string', default: '31' },
    root: { type: 'string', default: '.' },
  },
});
const largeBytes = Number(options.megabytes) * 1_048_576;
/** Just under the body limit, 32 MiB; 0 leaves /healthz out. */
const limitBytes = Number(options.limit) * 1_048_576;
const times = 4;
/** Of what JSON.parse grows by, if that is above 1: nested arrays take it twice as long for each byte. */
const allowedGrowth = 1.3;
const allowedWaitMs = 100;
/** A body is sent again if /healthz waited longer: other programs may have kept the processor busy. */
const attempts = 3;
/**
 * Allowed ratio to JSON.parse by default and with rules or other work; or to the harmless text of the size. With masking a
 * body costs what its values do.
 */
const allowedOfParse = { default: 5, everything: Number.POSITIVE_INFINITY, other: 15 };
const allowedOfWords = 10;
/** Below so many ms of CPU a growth is noise. */
const leastMs = 5;
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
const masking = { id: 'masked', action: 'mask', when: { text: { detect: ['email'] } } };
const gemini = '/v1beta/models/m:generateContent';
const geminiArray = '/v1beta/models/m:streamGenerateContent';
const geminiEmbeddings = '/v1beta/models/m:embedContent';
const ofTexts = ['/v1/messages', '/v1/chat/completions', '/v1/responses', gemini, geminiArray];
const ofEmbeddings = ['/v1/embeddings', geminiEmbeddings];
/** In which form a provider is asked: its settings, and the path of its address. */
const forms = {
  messages: { settings: { dialect: 'anthropic' } },
  chat: { settings: { dialect: 'openai', endpoints: ['chat'] }, path: '/v1' },
  responses: { settings: { dialect: 'openai', endpoints: ['responses'] }, path: '/v1' },
  gemini: { settings: { dialect: 'gemini', endpoints: ['gemini'] } },
  bedrock: { settings: { dialect: 'bedrock' } },
  vertex: {
    settings: { dialect: 'vertex', credentials: 'google' },
    path: '/v1/projects/p/locations/l',
  },
  vertex_gemini: {
    settings: { dialect: 'gemini', endpoints: ['gemini'] },
    path: '/v1/projects/p/locations/l/publishers/google',
  },
  embeddings: { settings: { dialect: 'openai', endpoints: ['embeddings'] }, path: '/v1', hasStreams: false },
  gemini_embeddings: {
    settings: { dialect: 'gemini', endpoints: ['gemini_embeddings'] },
    hasStreams: false,
  },
};
/** What a configuration adds to the default, the endpoints that it is asked at, and the forms of providers at each. */
const configurations = {
  default: {},
  budgets: {
    model: { pricing: { input: 1, output: 4 } },
    key: { limits: { usd_per_day: 1_000_000 } },
  },
  rules: { policy: everything },
  translated: {
    endpoints: ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1beta/models/m:generateContent'],
    dialects: { '/v1/messages': 'openai' },
    dialect: 'anthropic',
  },
  'bodies kept': { records: { bodies: true } },
  'answers read': { policy: answerRules },
  everything: {
    model: { pricing: { input: 1, output: 4 } },
    key: { limits: { usd_per_day: 1_000_000, tokens_per_minute: 1e12, requests_per_minute: 1_000_000 } },
    policy: { rules: [...everything.rules, masking, ...answerRules.rules] },
    endpoints: [...ofTexts, ...ofEmbeddings],
    formsAt: (endpoint) =>
      Object.keys(forms).filter(
        (form) => ofEmbeddings.includes(endpoint) === (forms[form].hasStreams === false),
      ),
  },
};
const endpoints = ['/v1/messages', '/v1/chat/completions', '/v1/responses', '/v1/embeddings', gemini];
/** Harmless answers by the end of the path that they come from. */
const answers = {
  '/chat/completions': {
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  '/responses': {
    id: 'r',
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] }],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
  '/embeddings': {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [1] }],
    usage: { prompt_tokens: 1, total_tokens: 1 },
  },
  '/messages': {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  ':generateContent': {
    candidates: [{ content: { parts: [{ text: 'ok' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  },
  ':embedContent': { embedding: { values: [1] } },
  ':batchEmbedContents': { embeddings: [{ values: [1] }] },
};
/** Which answer a host gives at a path: Claude at a cloud is asked at others. */
const answeredAs = (path) =>
  /(?:awPredict|\/invoke(?:-with-response-stream)?)$/.test(path)
    ? '/messages'
    : Object.keys(answers).find((end) => path.replace(':streamG', ':g').endsWith(end));
const dialectAt = {
  '/messages': 'messages',
  '/chat/completions': 'chat',
  '/responses': 'responses',
  ':generateContent': 'gemini',
};

/** What the provider answers instead, and the path that it was last asked at, as `answers` names it. */
let prepared;
let askedPath;
/** Whether all that the client gets at the endpoint are streams. */
let streamsOnly = false;
const provider = createServer((message, response) => {
  message.resume().on('end', async () => {
    const [path] = message.url.split('?');
    askedPath = answeredAs(path);
    const inFrames = path.startsWith('/model/');
    const given =
      prepared?.(inFrames) ??
      (streamsOnly ? shapedStream('tiny events', 1, { dialect: dialectAt[askedPath], inFrames }) : undefined);
    if (given !== undefined) {
      const { body, type, writes = body.length } = given;
      response.writeHead(200, { 'content-type': type });
      for (let at = 0; at < body.length && !response.destroyed; at += writes) {
        if (!response.write(body.subarray(at, at + writes))) await once(response, 'drain');
        else if (writes === 1) await new Promise(setImmediate);
      }
      return response.end();
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answers[askedPath]));
  });
});
await new Promise((ready) => provider.listen(0, '127.0.0.1', ready));
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const agent = new Agent({ keepAlive: true });
const problems = [];

console.log(
  'configuration | endpoint or stream | shape | ms CPU at n, 4n | growth | × JSON.parse | × words | /healthz ms',
);
for (const name of chosen(Object.keys(configurations), options.configurations)) {
  const configuration = configurations[name];
  for (const endpoint of chosen(configuration.endpoints ?? endpoints, options.endpoints)) {
    for (const form of chosen(configuration.formsAt?.(endpoint) ?? [''], options.forms))
      await measure({ configuration, name, endpoint, form });
  }
}
provider.close();
provider.closeAllConnections();
agent.destroy();
for (const problem of problems) console.log(`failed: ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);

async function measure({ configuration, name, endpoint, form }) {
  streamsOnly = endpoint === geminiArray;
  const gateway = await start(configuration, { endpoint, form });
  const place = form === '' ? endpoint : `${endpoint} at ${form}`;
  const part = { gateway, name, words: undefined };
  // What is random is another text each time, of which no automaton has a table.
  const make =
    (shape) =>
    (bytes, seed = 0) =>
      shapedBody(shape, bytes, { model: 'm', endpoint, seed });
  const ask = (shape) => shapedBody(shape, 100, { model: 'm', endpoint });
  const isWanted = (list) => list.length > 0 && (options.only === '' || list === wanted[options.only]);
  // What all need is compiled before, and the host knows where it is asked.
  for (const shape of shapeNames.slice(0, 8)) await costOf(gateway, make(shape), largeBytes);
  const path = askedPath;
  const dialect = dialectAt[path];
  const wanted = {
    requests: chosen(shapeNames, options.shapes),
    answers: streamsOnly ? [] : chosen(answerNames, options.answers),
    streams: dialect === undefined ? [] : chosen(streamNamesOf(dialect), options.answers),
  };
  if (isWanted(wanted.requests)) {
    part.words = (await costOf(gateway, make('words'), largeBytes)).ms;
    for (const shape of wanted.requests) await report(part, [name, place, shape], make(shape));
  }
  if (isWanted(wanted.answers)) {
    const answering = (shape) => (bytes, seed) => {
      const body = shapedAnswer(shape, bytes, { path, answer: answers[path], seed });
      prepared = () => ({ type: 'application/json', body });
      return ask('asked');
    };
    part.words = (await costOf(gateway, answering('words'), largeBytes)).ms;
    for (const shape of wanted.answers)
      await report(part, [name, `${place}, whole answer`, shape], answering(shape));
  }
  if (isWanted(wanted.streams)) {
    const streaming = { ...gateway, path: endpoint === gemini ? `${geminiArray}?alt=sse` : endpoint };
    for (const shape of wanted.streams) {
      const answering = (bytes) => {
        const inFrames = form === 'bedrock';
        const stream = shapedStream(shape, bytes, { dialect, inFrames });
        prepared = () => stream;
        return ask('stream');
      };
      const isStream = true;
      await report({ ...part, gateway: streaming, isStream }, [name, `${place}, stream`, shape], answering);
    }
  }
  prepared = undefined;
  if (gateway.probe !== undefined) await stop(gateway.probe);
  await stop(gateway.child);
}

async function report({ gateway, name, words, isStream = false }, names, make) {
  const large = await costOf(gateway, make, largeBytes);
  const small = await costOf(gateway, make, largeBytes / times);
  const growth = growthOf(small.ms, large.ms);
  const ownGrowth = isStream ? 1 : Math.max(1, growthOf(small.parseMs, large.parseMs));
  // Some streams take a while to send.
  const waitMs =
    limitBytes === 0 ? 0 : await longestWait(gateway, isStream ? make(largeBytes) : atLimit(make));
  const ofParse = isStream ? Number.NaN : large.ms / large.parseMs;
  const ofWords = isStream ? Number.NaN : large.ms / words;
  const isDear = ofParse > (allowedOfParse[name] ?? allowedOfParse.other) && ofWords > allowedOfWords;
  const ratios = isStream ? [' ', ' '] : [ofParse.toFixed(1), ofWords.toFixed(1)];
  const costs = `${small.ms.toFixed(1)}, ${large.ms.toFixed(1)}`;
  const line = [...names, costs, growth.toFixed(2), ...ratios, waitMs.toFixed(0)].join(' | ');
  console.log(large.status === 200 ? line : `${line} | ${large.status}`);
  // A refusal is an answer, and must not cost more than others.
  if (typeof large.status !== 'number' || large.status >= 500) problems.push(`not answered: ${line}`);
  else if (growth > allowedGrowth * ownGrowth || waitMs > allowedWaitMs || isDear) problems.push(line);
}

/** A body or an answer just under the limit: those of some shapes are larger than asked for. */
function atLimit(make) {
  let bytes = limitBytes;
  for (;;) {
    const body = make(bytes);
    const size = Math.max(body.length, prepared?.(false).body.length ?? 0);
    if (size <= limitBytes) return body;
    bytes = Math.floor((bytes / size) * limitBytes * 0.99);
  }
}

/** 1 is linear. */
function growthOf(smallMs, largeMs) {
  return largeMs / Math.max(smallMs, leastMs) / times;
}

/** The least of three, in ms of the gateway's process; and of JSON.parse. */
async function costOf(gateway, make, bytes) {
  let ms = Number.POSITIVE_INFINITY;
  let body;
  let status;
  for (let round = 0; round < 4; round += 1) {
    body = make(bytes, bytes + round);
    const before = cpuOf(gateway.child.pid);
    status = await send(gateway, body);
    // In the first round the tables of the automata fill.
    if (round > 0) ms = Math.min(ms, (cpuOf(gateway.child.pid) - before) / 1_000);
  }
  const given = prepared?.(false);
  const json = given === undefined ? body : given.type === 'application/json' ? given.body : undefined;
  return { ms, status, parseMs: json === undefined ? Number.NaN : parseMs(json) };
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
async function longestWait(gateway, body) {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && least > allowedWaitMs; attempt += 1) {
    await gateway.probe.take();
    await send(gateway, body);
    least = Math.min(least, await gateway.probe.take());
  }
  return least;
}

/** Asks for /healthz all the time; `take` resolves to the longest wait since the last call, in ms. */
function startProbe(port) {
  const child = launch({
    command: [process.execPath, join(import.meta.dirname, 'probe-health.mjs'), String(port)],
    core: cores.load,
    stdout: 'pipe',
  });
  return Object.assign(child, {
    async take() {
      child.kill('SIGUSR2');
      const [said] = await once(child.stdout, 'data');
      return Number(said);
    },
  });
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

/** What a provider has of a form; without one, the dialect's own at the endpoint. */
function providerOf({ dialect, dialects }, { endpoint, form }) {
  const own = { '/v1/messages': 'anthropic', [gemini]: 'gemini' };
  const spoken = dialects?.[endpoint] ?? dialect ?? own[endpoint] ?? 'openai';
  const { settings, path = '' } = forms[form] ?? {
    settings: { dialect: spoken },
    path: spoken === 'openai' ? '/v1' : '',
  };
  const credential = settings.credentials === undefined ? { api_key: 'sk-provider-0123456789abcdef' } : {};
  return { ...settings, ...credential, base_url: `http://127.0.0.1:${provider.address().port}${path}` };
}

/** Stands for Google's package, which is installed beside the gateway. */
function googleLibrary() {
  const library = join(folder, 'google-auth-library');
  mkdirSync(library, { recursive: true });
  writeFileSync(
    join(library, 'index.js'),
    `exports.gcpMetadata = { resetIsAvailableCache() {} };
exports.GoogleAuth = class {
  async getClient() {
    return { credentials: {}, getAccessToken: async () => ({ token: 'a-token-0123456789abcdef' }) };
  }
};`,
  );
  return folder;
}

async function start(configuration, { endpoint, form }) {
  const { model, key: more, policy, records } = configuration;
  const port = await freePort();
  const state = mkdtempSync(join(folder, 'state-'));
  const file = join(state, 'gateway.yaml');
  writeFileSync(
    file,
    JSON.stringify({
      providers: { p: providerOf(configuration, { endpoint, form }) },
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
    environment: { XDG_STATE_HOME: state, HOME: state, NODE_PATH: googleLibrary() },
    core: cores.contender,
    cwd: state,
  });
  const gateway = { child, port, path: endpoint };
  for (let time = 0; time < 200; time += 1) {
    try {
      await send({ port, path: '/healthz' }, Buffer.alloc(0));
      // It costs the gateway something, too.
      if (limitBytes === 0) return gateway;
      const probe = startProbe(port);
      await once(probe.stdout, 'data');
      return { ...gateway, probe };
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  throw new Error(`the gateway does not start: ${child.words}`);
}
