// What Amazon Bedrock costs beyond other hosts, in CPU time: signing a request of 100 KB (at most 0.5 ms of this process), and
// an event that comes in a frame of AWS (at most twice what the same one costs the gateway's process as a server-sent event;
// the two take turns). Fails beyond that. After npm run build && npm run build:modules: node bench/clouds.mjs [rounds]
import { sign } from '../build/providers/credentials/aws.js';
import { toFrame } from './aws-frames.mjs';
import { median, startMeasured, startStreams } from './measured-gateway.mjs';

const rounds = Number(process.argv[2] ?? 15);
const limits = { signingMs: 0.5, ratio: 2 };

/** Milliseconds of CPU for one signature. */
async function measureSigning() {
  const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
  const host = 'bedrock-runtime.us-east-1.amazonaws.com';
  const body = Buffer.alloc(100_000, '{"role":"user","content":"hello"},');
  const headers = ['content-type', 'application/json', 'accept', 'application/json'];
  const request = { method: 'POST', path: '/model/anthropic.claude-v1%3A0/invoke', headers, body };
  const count = 100;
  const taken = [];
  for (let round = 0; round < rounds + 3; round += 1) {
    const before = process.cpuUsage();
    for (let i = 0; i < count; i += 1) {
      const date = new Date(1_790_000_000_000 + i * 1_000);
      await sign({ request, host }, { keys, region: 'us-east-1', service: 'bedrock', date });
    }
    const { user, system } = process.cpuUsage(before);
    if (round >= 3) taken.push((user + system) / count / 1_000);
  }
  return median(taken);
}

const events = 400;
const streams = 20;
const toSse = (event) => Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

function answer() {
  const usage = { input_tokens: 3, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage,
  };
  const delta = (i) => ({ type: 'text_delta', text: ` word ${i}` });
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...Array.from({ length: events }, (_, i) => ({ type: 'content_block_delta', index: 0, delta: delta(i) })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 7 },
    },
    { type: 'message_stop' },
  ];
}

/** Microseconds of CPU of the gateway for an event, by the form in which it comes. */
async function measureEvents() {
  const answers = {
    frames: { type: 'application/vnd.amazon.eventstream', pieces: answer().map(toFrame) },
    sse: { type: 'text/event-stream', pieces: answer().map(toSse) },
  };
  const host = await startStreams(({ url }) => answers[url.startsWith('/model/') ? 'frames' : 'sse']);
  const key = 'a-key-0123456789abcdef';
  const gateway = await startMeasured(
    `providers:
  frames: { dialect: bedrock, base_url: "${host.url}", api_key: "\${K}" }
  sse: { dialect: anthropic, base_url: "${host.url}", api_key: "\${K}" }
models: [{ match: frames, provider: frames }, { match: sse, provider: sse }]
projects: { one: { keys: [{ id: one, value: "\${KEY}" }] } }
plants: { store: { enabled: false } }
`,
    { K: 'provider-key-0123456789', KEY: key },
  );
  const ask = async (model) => {
    const messages = [{ role: 'user', content: 'hello' }];
    const { text } = await gateway.ask('/v1/messages', key, {
      model,
      max_tokens: 100,
      stream: true,
      messages,
    });
    if (!text.includes('message_stop')) throw new Error(text);
  };
  const used = { frames: [], sse: [] };
  for (let round = 0; round < rounds + 3; round += 1)
    for (const kind of ['frames', 'sse']) {
      const before = gateway.cpu();
      await Promise.all(Array.from({ length: streams }, () => ask(kind)));
      if (round >= 3) used[kind].push((gateway.cpu() - before) / 1_000 / events / streams);
    }
  gateway.stop();
  host.close();
  return { frames: median(used.frames), sse: median(used.sse) };
}

const signingMs = await measureSigning();
const { frames, sse } = await measureEvents();
const ratio = frames / sse;
console.log(`signing 100 KB: ${signingMs.toFixed(3)} ms of CPU (at most ${limits.signingMs})`);
console.log(
  `an event: ${frames.toFixed(2)} µs in a frame, ${sse.toFixed(2)} µs as SSE: × ${ratio.toFixed(2)} (at most ${limits.ratio})`,
);
if (signingMs > limits.signingMs || ratio > limits.ratio) process.exitCode = 1;
