// CPU per event of a translated stream against one that passes as it is, both by the gateway's own code
// (answer-stream.ts): watched for usage and its end, or translated.
//
//   npm run build:modules && node bench/translate.mjs [rounds]
//
// A relay (its own process: node:http in front, the gateway's pool behind, and nothing else of an exchange)
// passes streams of a provider to clients, both in this process. Only the relay's CPU time counts. Samples of all modes are
// interleaved, and the median of the rounds is printed. `paced` sends one event per write, 10 ms apart;
// `burst` sends everything at once, so that many events share a chunk.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const streamsOf = {
  messages: messagesEvents,
  chat: chatEvents,
  responses: responsesEvents,
  gemini: geminiEvents,
};
const providers = Object.keys(streamsOf);
const directions = providers.flatMap((client) =>
  providers.filter((provider) => provider !== client).map((provider) => [client, provider]),
);
const requests = {
  messages: { messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 },
  chat: { messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 },
  responses: { input: 'hello' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
};
const deltas = 100;

if (process.argv[2] === 'relay') await runRelay();
else await runBench(Number(process.argv[2] ?? 7));

// ---------------------------------------------------------------- the streams

function event(data) {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function messagesEvents() {
  const usage = { input_tokens: 20, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
  };
  return [
    event({ type: 'message_start', message: { ...message, stop_sequence: null, usage } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...words((text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
    event({ type: 'message_stop' }),
  ];
}

function chatEvents() {
  const chunk = (choices, more = {}) =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
      object: 'chat.completion.chunk',
      created: 1_763_000_000,
      model: 'gpt-4.1-2025-04-14',
      service_tier: 'default',
      system_fingerprint: 'fp_51db84afab',
      choices,
      ...more,
    })}\n\n`;
  const choice = (delta, reason = null) => [{ index: 0, delta, logprobs: null, finish_reason: reason }];
  return [
    chunk(choice({ role: 'assistant', content: '', refusal: null })),
    ...words((content) => chunk(choice({ content }))),
    chunk(choice({}, 'stop')),
    chunk([], { usage: { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 } }),
    'data: [DONE]\n\n',
  ];
}

function responsesEvents() {
  let sequence = 0;
  const numbered = (type, more) => {
    sequence += 1;
    return event({ type, sequence_number: sequence - 1, ...more });
  };
  const place = { item_id: 'msg_67c9fdcf37fc8190ba82116e33fb28c5', output_index: 0, content_index: 0 };
  const response = { id: 'resp_1', object: 'response', status: 'in_progress', output: [], model: 'm' };
  const item = { id: place.item_id, type: 'message', role: 'assistant', content: [] };
  const part = { type: 'output_text', text: '', annotations: [] };
  return [
    numbered('response.created', { response }),
    numbered('response.output_item.added', { output_index: 0, item }),
    numbered('response.content_part.added', { ...place, part }),
    ...words((delta) =>
      numbered('response.output_text.delta', { ...place, delta, logprobs: [], obfuscation: 'aBcDeFgHiJkL' }),
    ),
    numbered('response.completed', { response: { ...response, status: 'completed' } }),
  ];
}

function geminiEvents() {
  const usageMetadata = {
    promptTokenCount: 20,
    candidatesTokenCount: 100,
    totalTokenCount: 120,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 20 }],
  };
  const said = (text, finishReason) =>
    `data: ${JSON.stringify({
      candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason, index: 0 }],
      usageMetadata,
      modelVersion: 'gemini-2.5-flash',
      responseId: 'Zk1XaYnTMoqkvdIP2Z6B0A4',
    })}\r\n\r\n`;
  return [...words((text) => said(text)), said('', 'STOP')];
}

function words(build) {
  return Array.from({ length: deltas }, (_each, index) => build(index % 7 === 0 ? ' Grüße,\n' : ' word'));
}

// ---------------------------------------------------------------- the relay

async function runRelay() {
  const { Pool } = await import('../build/providers/transport/pool.js');
  const { Upstream } = await import('../build/providers/transport/upstream.js');
  const { dialects } = await import('../build/dialects/registry.js');
  const { AnswerStream, ExactSource, TranslatedSource } = await import(
    '../build/gateway/answer/answer-stream.js'
  );
  const { SecretStage } = await import('../build/gateway/answer/stream-stages.js');
  const { Scrubber } = await import('../build/gateway/scrub.js');
  const scrubber = new Scrubber(['provider-key-0123456789']);
  const streamOf = (source) => new AnswerStream({ source, stages: [new SecretStage(scrubber)], scrubber });
  const { createTranslation } = await import('../build/dialects/translate.js');
  const timeouts = { connectMs: 10_000, headersMs: 60_000, idleMs: 60_000 };
  const pool = new Pool(process.argv[3], { timeouts });

  function startStream(mode) {
    const [client, provider] = mode.split('>');
    if (client === 'exact') return streamOf(new ExactSource(dialects[provider]));
    const translation = createTranslation(dialects[client], dialects[provider], {
      requestedModel: 'asked',
      targetModel: 'target',
      host: 'unknown',
      newId: (prefix) => `${prefix}0123456789abcdef01234567`,
      createdS: 1_763_000_000,
    });
    translation.request(requests[client]);
    return streamOf(new TranslatedSource(translation.stream()));
  }

  const server = createServer({ noDelay: true }, (request, response) => {
    const [, kind, mode = ''] = decodeURIComponent(request.url ?? '').split('/');
    if (kind === 'cpu') {
      response.end(JSON.stringify(process.cpuUsage()));
      return;
    }
    const stream = startStream(mode);
    const upstream = new Upstream((failure) => {
      if (failure !== undefined) return response.destroy(failure.error);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      upstream.pipe({
        data: (chunk) => {
          const passed = stream.transform(chunk);
          if (passed.length > 0) response.write(passed);
          return true;
        },
        end: () => {
          const last = stream.state === 'open' ? stream.end() : undefined;
          response.end(last?.length > 0 ? last : undefined);
        },
        fail: (error) => response.destroy(error),
      });
    });
    pool.send({ path: `/${kind}/${mode.split('>')[1]}`, method: 'GET', headers: [] }, upstream);
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
  process.stdin.on('end', () => process.exit(0)).resume();
}

// ---------------------------------------------------------------- provider, clients, figures

async function startProvider() {
  const streams = Object.fromEntries(Object.entries(streamsOf).map(([name, events]) => [name, events()]));
  const server = createServer({ noDelay: true }, (request, response) => {
    const [, kind, provider] = (request.url ?? '').split('/');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = streams[provider];
    if (kind === 'burst') {
      response.end(events.join(''));
      return;
    }
    let next = 0;
    const timer = setInterval(() => {
      response.write(events[next]);
      next += 1;
      if (next < events.length) return;
      clearInterval(timer);
      response.end();
    }, 10);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, streams, url: `http://127.0.0.1:${server.address().port}` };
}

function read(url) {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece) => {
        text += piece;
      });
      response.on('end', () => resolve(text));
      response.on('error', reject);
    }).on('error', reject);
  });
}

async function sample(base, kind, mode, count) {
  const before = JSON.parse(await read(`${base}/cpu`));
  const url = `${base}/${kind}/${encodeURIComponent(mode)}`;
  const texts = await Promise.all(Array.from({ length: count }, () => read(url)));
  const after = JSON.parse(await read(`${base}/cpu`));
  for (const text of texts) {
    if (!/message_stop|\[DONE\]|response\.completed|finishReason/.test(text))
      throw new Error(`${mode}: a stream has no end`);
  }
  return after.user - before.user + after.system - before.system;
}

function median(values) {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
}

async function runBench(rounds) {
  const provider = await startProvider();
  const relay = spawn(process.execPath, [fileURLToPath(import.meta.url), 'relay', provider.url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // Without it every request would wait for an answer that nobody gives.
  relay.on('exit', (code) => code !== 0 && process.exit(1));
  const [port] = await once(createInterface(relay.stdout), 'line');
  const base = `http://127.0.0.1:${port}`;
  const modes = [...providers.map((name) => ['exact', name]), ...directions].map((pair) => pair.join('>'));

  for (const [kind, count] of [
    ['paced', 50],
    ['burst', 100],
  ]) {
    const costs = new Map(modes.map((mode) => [mode, []]));
    for (let round = -1; round < rounds; round += 1) {
      for (const mode of modes) {
        const cost = await sample(base, kind, mode, count);
        const events = provider.streams[mode.split('>')[1]].length * count;
        // The first round warms up.
        if (round >= 0) costs.get(mode).push(cost / events);
      }
    }
    console.log(`\n${kind}: CPU of the relay in µs per event (median of ${rounds}, lowest and highest)`);
    for (const mode of modes) {
      const values = costs.get(mode);
      const plain = median(costs.get(`exact>${mode.split('>')[1]}`));
      const range = `${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)}`;
      const ratio = (median(values) / plain).toFixed(2);
      console.log(`${mode.padEnd(20)} ${median(values).toFixed(1).padStart(6)}  (${range})  × ${ratio}`);
    }
  }
  relay.stdin.end();
  provider.server.closeAllConnections();
  provider.server.close();
}
