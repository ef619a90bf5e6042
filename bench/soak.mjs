// A long run of mixed traffic: every client dialect at every provider dialect, streamed and whole, 5 % faults
// of the provider, 5 % clients that leave in the middle. Every answer is checked word for word.
//
//   npm run build && node bench/soak.mjs [--minutes 10] [--streams 200]
//
// The gateway is a process of its own, started as users start it; the provider and the clients are in this one.
// Reported: wrong answers, sockets that are still open at the end, and the gateway's memory over time. Memory
// and sockets are read from /proc, so that part needs Linux.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, streams: { type: 'string', default: '200' } },
});
const minutes = Number(values.minutes);
const streams = Number(values.streams);

const dialects = ['messages', 'chat', 'responses', 'gemini'];
const paths = { messages: '/v1/messages', chat: '/v1/chat/completions', responses: '/v1/responses' };
/** Gemini's is the only one with the model and the method in it. */
const pathFor = (client, model, isStream) =>
  paths[client] ??
  `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
const faults = ['reset', 'cut', 'stall', 'huge', '500', '529'];
const wordCount = 40;
const wordMs = 50;
const idleMs = 2_000;
const faultShare = 0.05;
const leaverShare = 0.05;
const secret = 'soak-provider-key-0123456789';
const projectKey = 'soak-project-key-0123456789';

// ---------------------------------------------------------------- the provider

/** What a request asks the provider for stands in its text: `order <id> <fault or none>`. */
function orderIn(url, body) {
  const [, id, fault] = /order (\d+) (\w+)/.exec(body) ?? [];
  return { id, fault, isStream: /"stream": ?true/.test(body) || url.includes(':streamGenerateContent') };
}

function wordsOf(id) {
  return Array.from({ length: wordCount }, (_each, index) => `${id}:${index} grün 👋 `);
}

function event(data) {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

const writers = {
  messages: {
    head: () => [
      event({ type: 'message_start', message: { ...messageOf('', null), content: [] } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ],
    word: (text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    tail: () => [
      event({ type: 'content_block_stop', index: 0 }),
      event({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 9 },
      }),
      event({ type: 'message_stop' }),
    ],
    whole: (text) => messageOf(text, 'end_turn'),
  },
  chat: {
    head: () => [chunkOf({ role: 'assistant', content: '' })],
    word: (content) => chunkOf({ content }),
    tail: () => [chunkOf({}, 'stop'), 'data: [DONE]\n\n'],
    whole: (content) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 },
    }),
  },
  responses: {
    head: () => [
      event({ type: 'response.created', sequence_number: 0, response: responseOf('', 'in_progress') }),
      event({
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'msg_1', type: 'message', role: 'assistant', content: [] },
      }),
      event({
        type: 'response.content_part.added',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      }),
    ],
    word: (delta) =>
      event({
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta,
      }),
    tail: (text) => [event({ type: 'response.completed', response: responseOf(text, 'completed') })],
    whole: (text) => responseOf(text, 'completed'),
  },
  gemini: {
    head: () => [],
    word: (text) => `data: ${JSON.stringify(generated(text))}\r\n\r\n`,
    tail: () => [`data: ${JSON.stringify(generated('', 'STOP'))}\r\n\r\n`],
    whole: (text) => generated(text, 'STOP'),
  },
};

function generated(text, finishReason) {
  return {
    candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 9, totalTokenCount: 18 },
  };
}

function messageOf(text, stopReason) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text }],
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 9 },
  };
}

function chunkOf(delta, finishReason = null) {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`;
}

function responseOf(text, status) {
  const part = { type: 'output_text', text, annotations: [] };
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
  const usage = { input_tokens: 9, output_tokens: 9, total_tokens: 18 };
  return { id: 'resp_1', object: 'response', status, model: 'm', output: text === '' ? [] : [item], usage };
}

async function answer(request_, response) {
  const chunks = [];
  for await (const chunk of request_) chunks.push(chunk);
  const { id, fault, isStream } = orderIn(request_.url, Buffer.concat(chunks).toString());
  const name = dialects.find((each) => paths[each] === request_.url) ?? 'gemini';
  const write = writers[name];
  if (id === undefined) return response.writeHead(404).end();
  if (fault === '500' || fault === '529') {
    response.writeHead(Number(fault), { 'content-type': 'application/json', 'retry-after': '0' });
    return response.end(`{"type":"error","error":{"type":"api_error","message":"as ordered, ${secret}"}}`);
  }
  const words = wordsOf(id);
  if (!isStream) {
    const body = JSON.stringify(write.whole(words.join('')));
    response.writeHead(200, { 'content-type': 'application/json' });
    if (fault === 'none') return response.end(body);
    response.write(body.slice(0, body.length / 2));
    return misbehave(response, fault);
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const text of write.head()) response.write(text);
  for (const [index, word] of words.entries()) {
    if (fault !== 'none' && index === wordCount / 2) return misbehave(response, fault);
    if (response.destroyed) return undefined;
    response.write(write.word(word));
    await wait(wordMs);
  }
  return response.end(write.tail(words.join('')).join(''));
}

function misbehave(response, fault) {
  if (fault === 'reset') return setImmediate(() => response.socket?.resetAndDestroy());
  if (fault === 'cut') return response.end();
  if (fault === 'huge') return response.end(`data: ${'x'.repeat(2_000_000)}\n\n`);
  return undefined; // a stall: the gateway must end it
}

// ---------------------------------------------------------------- the clients

function bodyFor(client, model, text, isStream) {
  const stream = isStream ? { stream: true } : {};
  if (client === 'responses') return { model, input: text, ...stream };
  if (client === 'gemini') return { contents: [{ role: 'user', parts: [{ text }] }] };
  return {
    model,
    messages: [{ role: 'user', content: text }],
    ...(client === 'messages' ? { max_tokens: 500 } : {}),
    ...stream,
  };
}

const readers = {
  messages: {
    delta: ({ delta }) => (delta?.type === 'text_delta' ? delta.text : ''),
    whole: ({ content }) => content[0].text,
    last: 'event: message_stop',
  },
  chat: {
    delta: ({ choices }) => choices?.[0]?.delta?.content ?? '',
    whole: ({ choices }) => choices[0].message.content,
    last: 'data: [DONE]',
  },
  responses: {
    delta: ({ type, delta }) => (type === 'response.output_text.delta' ? delta : ''),
    whole: ({ output }) => output[0].content[0].text,
    last: 'event: response.completed',
  },
  gemini: {
    delta: ({ candidates }) => candidates?.[0]?.content?.parts?.[0]?.text ?? '',
    whole: ({ candidates }) => candidates[0].content.parts[0].text,
    last: '"finishReason"',
  },
};

function textIn(client, stream) {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => readers[client].delta(JSON.parse(line.slice('data: '.length))))
    .join('');
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const tally = { answered: 0, failedAsOrdered: 0, left: 0, wrong: 0, streamed: 0, translated: 0 };
const samplesOfWrong = [];
const liveHeapMb = [];
let nextId = 0;

/** One exchange from start to end, checked. */
async function exchange(port) {
  const client = dialects[randomInt(dialects.length)];
  const provider = dialects[randomInt(dialects.length)];
  const isStream = Math.random() < 0.85;
  const fault = Math.random() < faultShare ? faults[randomInt(faults.length)] : 'none';
  const leavesAfter = isStream && Math.random() < leaverShare ? randomInt(1, 4_000) : undefined;
  nextId += 1;
  const id = String(nextId);
  const asked = { client, provider, isStream, fault, id };
  const heard = await send(port, asked, leavesAfter);
  if (isStream) tally.streamed += 1;
  if (client !== provider) tally.translated += 1;
  if (leavesAfter !== undefined && heard.left) {
    tally.left += 1;
    return;
  }
  const verdict = check(asked, heard);
  if (verdict === 'answered' || verdict === 'failedAsOrdered') tally[verdict] += 1;
  else {
    tally.wrong += 1;
    if (samplesOfWrong.length < 5)
      samplesOfWrong.push({ ...asked, verdict, status: heard.status, end: heard.text.slice(-300) });
  }
}

function send(port, { client, provider, isStream, fault, id }, leavesAfter) {
  const body = JSON.stringify(bodyFor(client, `at-${provider}`, `order ${id} ${fault}`, isStream));
  return new Promise((resolve) => {
    const heard = { status: 0, text: '', isWhole: false, left: false };
    const chunks = [];
    let bytes = 0;
    const call = request({
      host: '127.0.0.1',
      port,
      path: pathFor(client, `at-${provider}`, isStream),
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${projectKey}`,
        'content-length': Buffer.byteLength(body),
      },
    });
    const done = (isWhole) => resolve({ ...heard, isWhole, text: Buffer.concat(chunks).toString() });
    call.on('response', (response) => {
      heard.status = response.statusCode;
      response.on('data', (chunk) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (leavesAfter !== undefined && bytes > leavesAfter) {
          heard.left = true;
          call.destroy();
        }
      });
      response.on('error', () => undefined);
      response.on('close', () => done(response.complete));
    });
    call.on('error', () => done(false));
    call.end(body);
  });
}

function check({ client, isStream, fault, id }, { status, text, isWhole }) {
  const expected = wordsOf(id).join('');
  if (text.includes(secret)) return 'it holds the provider’s key';
  if (fault === '500' || fault === '529') {
    return status === Number(fault) && isWhole && text.includes('as ordered')
      ? 'failedAsOrdered'
      : 'not the error';
  }
  if (fault !== 'none') {
    if (!isStream)
      return [502, 504].includes(status) && isWhole ? 'failedAsOrdered' : 'a cut answer looks whole';
    const isLoud =
      status === 200 && !isWhole && /"error": ?\{/.test(text) && !text.includes(readers[client].last);
    if (!isLoud) return 'a cut stream looks whole';
    return expected.startsWith(textIn(client, text)) ? 'failedAsOrdered' : 'other words before the cut';
  }
  if (status !== 200 || !isWhole) return 'no whole answer';
  if (!isStream) return readers[client].whole(JSON.parse(text)) === expected ? 'answered' : 'other words';
  if (!text.includes(readers[client].last)) return 'no last event';
  return textIn(client, text) === expected ? 'answered' : 'other words';
}

// ---------------------------------------------------------------- the gateway

function configFor(url, directory) {
  const settings = `api_key: "\${SOAK_SECRET}", timeouts: { idle: ${idleMs}ms }, breaker: { failures: 100 }, connections: 2000`;
  return `
server: { port: 0 }
providers:
  messages: { dialect: anthropic, base_url: "${url}", endpoints: [messages], ${settings} }
  chat: { dialect: openai, base_url: "${url}/v1", endpoints: [chat], ${settings} }
  responses: { dialect: openai, base_url: "${url}/v1", endpoints: [responses], ${settings} }
  gemini: { dialect: gemini, base_url: "${url}", ${settings} }
models:
${dialects.map((name) => `  - { match: at-${name}, provider: ${name} }`).join('\n')}
projects: { soak: { keys: [{ id: soak, value: "\${SOAK_KEY}" }] } }
plants: { store: { enabled: false } }
records: { file: "${join(directory, 'records.jsonl')}" }
`;
}

async function startGateway(directory, url) {
  const file = join(directory, 'gateway.yaml');
  writeFileSync(file, configFor(url, directory), { mode: 0o600 });
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  const bin = new URL('../bin/gateway.js', import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    ['--trace-gc', bin, 'serve', '-c', file, '-p', String(port), '--log', 'json', '-q'],
    {
      env: { ...process.env, SOAK_SECRET: secret, SOAK_KEY: projectKey, XDG_STATE_HOME: directory },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  // What lives after a full collection: resident memory swings with when those come.
  createInterface(child.stdout).on('line', (line) => {
    const [, megabytes] = /Mark-Compact.* -> ([\d.]+) /.exec(line) ?? [];
    if (megabytes !== undefined) liveHeapMb.push(Number(megabytes));
  });
  let said = '';
  child.stderr.on('data', (text) => {
    if (said.length < 4_000) said += text;
  });
  for (let tries = 0; tries < 100; tries += 1) {
    const isUp = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return { child, port };
    await wait(100);
  }
  child.kill();
  throw new Error(`the gateway did not start: ${said}`);
}

function residentMb(pid) {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1_024);
}

function openSockets(pid) {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:');
    } catch {
      return false; // it was closed between the two calls
    }
  }).length;
}

function median(numbers) {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)];
}

// ---------------------------------------------------------------- the run

const provider = createServer({ noDelay: true, keepAliveTimeout: 30_000 }, (request_, response) => {
  void answer(request_, response).catch(() => response.destroy()); // a client that left
});
provider.listen(0, '127.0.0.1', 4_096);
await once(provider, 'listening');
const directory = mkdtempSync(join(tmpdir(), 'gateway-soak-'));
const gateway = await startGateway(directory, `http://127.0.0.1:${provider.address().port}`);
const { pid } = gateway.child;
const socketsBefore = openSockets(pid);
console.log(
  `gateway ${pid}: ${residentMb(pid)} MB, ${socketsBefore} sockets; ${minutes} minutes, ${streams} at a time`,
);

const endsAt = Date.now() + minutes * 60_000;
const samples = [];
const sampling = setInterval(() => {
  samples.push(residentMb(pid));
  if (samples.length % 12 !== 0) return;
  const minute = samples.length / 12;
  console.log(
    `minute ${minute}: ${median(samples.slice(-12))} MB, ${openSockets(pid)} sockets, ${JSON.stringify(tally)}`,
  );
}, 5_000);

async function keepAsking() {
  // Not all in step.
  await wait(randomInt(2_000));
  while (Date.now() < endsAt) await exchange(gateway.port);
}
await Promise.all(Array.from({ length: streams }, keepAsking));
clearInterval(sampling);
agent.destroy();
// The gateway keeps connections to a provider for four seconds, and its clock is coarse.
await wait(8_000);

// One of those before may be the check that it was up.
const leakedAtGateway = Math.max(0, openSockets(pid) - socketsBefore);
const leakedAtProvider = await new Promise((resolve) =>
  provider.getConnections((_error, count) => resolve(count)),
);
const third = Math.max(1, Math.floor(samples.length / 3));
const [early, late] = [median(samples.slice(third, 2 * third)), median(samples.slice(-third))];
const liveThird = Math.max(1, Math.floor(liveHeapMb.length / 3));
const usedMb = residentMb(pid);
gateway.child.kill('SIGTERM');
const [code] = await once(gateway.child, 'exit');
provider.close();
rmSync(directory, { recursive: true });

console.log(`\n${JSON.stringify(tally)}`);
console.log(`wrong answers: ${tally.wrong}`);
for (const sample of samplesOfWrong) console.log(JSON.stringify(sample));
console.log(`sockets left: ${leakedAtGateway} at the gateway, ${leakedAtProvider} at the provider`);
console.log(
  `memory: median ${early} MB in the second third, ${late} MB in the last, highest ${Math.max(...samples)} MB, ${usedMb} MB at the end`,
);
console.log(
  `live heap after full collections: median ${median(liveHeapMb.slice(liveThird, 2 * liveThird))} MB in the second third, ${median(liveHeapMb.slice(-liveThird))} MB in the last`,
);
console.log(`exit code of the gateway: ${code}`);
process.exitCode = tally.wrong === 0 && leakedAtGateway === 0 && leakedAtProvider === 0 ? 0 : 1;
