// What masking costs: a request with a rule that masks against the same rule redacting, and an event of an answer with
// values restored against the same stream without. CPU time of the process, the two in turns. Build first:
// npm run build:modules && node bench/mask.mjs; a section of npm run bench too.

import { dialects } from '../build/dialects/registry.js';
import { AnswerStream, ExactSource } from '../build/gateway/answer/answer-stream.js';
import { Scrubber } from '../build/gateway/scrub.js';
import { parseStrictJson } from '../build/json/strict-json.js';
import { compilePolicies } from '../build/policy/compile.js';
import { pairsOf } from '../build/policy/mask/masked-values.js';
import { Restorer } from '../build/policy/mask/restorer.js';
import { StreamRestorer } from '../build/policy/mask/stream-restorer.js';
import { policySchema } from '../build/policy/rules/schema.js';
import { median } from './summarize.mjs';

const secret = 'a secret of the benchmark, long enough';
const detect = [{ secrets: 'possible' }, 'email', 'private_key'];
const sets = Object.fromEntries(
  ['redact', 'mask'].map((action) => {
    const rule = { id: action, action, when: { text: { detect } }, reason: 'content.secret' };
    const policies = { house: policySchema.parse({ rules: [rule] }) };
    return [action, compilePolicies(policies, [], { maskSecret: secret }).select(['house'])];
  }),
);

const words =
  'the build failed because a module was not found so I looked at the file and changed the import '.repeat(8);
const turn = (text, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: [{ type: 'text', text }] });
const bodyOf = (texts) =>
  Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages: [...texts, 'go on'].map(turn) }));
const env = 'DB_PASSWORD=gT7kQ2vLp9xR4m\nJWT_SECRET=x9Kq2mWv8LpR4tYz\nADMIN=ann@example.com\n';
const bodies = {
  '4 KB, 3 values': bodyOf([words.slice(0, 3_500), env]),
  '360 KB, 3 values': bodyOf([...Array(480).fill(words), env]),
  '360 KB, 300 values': bodyOf(
    Array.from(
      { length: 300 },
      (_, at) => `${words} write to user${at}@customers.example about ${words.slice(0, 300)}`,
    ),
  ),
  '9,000 values in one text': bodyOf([
    Array.from({ length: 9_000 }, (_, at) => `user${at}@customers.example`).join('\n'),
  ]),
};

const subject = (document) => ({
  document,
  dialect: dialects.messages,
  endpoint: 'messages',
  model: 'm',
  targetModels: [],
  stream: false,
  project: 'p',
  key: 'k',
  nowMs: 0,
});

const streamOf = (name, stages) =>
  new AnswerStream({ source: new ExactSource(dialects[name]), stages, scrubber: new Scrubber([]) });

/**
 * CPU microseconds of two runs that take turns: the median of the first, and that times the median ratio of neighbours, in
 * which what slowed both down cancels out.
 */
function compare([base, other], rounds = 15) {
  const measure = (run) => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const times = [];
  const until = performance.now() + rounds * 300;
  while (times.length < rounds || performance.now() < until) {
    const first = measure(base);
    const others = measure(other) + measure(other);
    const own = first + measure(base);
    times.push({ own: own / 2, ratio: others / own });
  }
  const own = median(times.map((each) => each.own));
  return [own, own * median(times.map(({ ratio }) => ratio))];
}

/** CPU milliseconds of a request with a rule that redacts, and with the same rule masking. */
export function measureRequests(rounds) {
  return Object.entries(bodies).map(([name, body]) => {
    const times = Math.max(1, Math.round(400_000 / body.length));
    const run = (action) => () => {
      for (let at = 0; at < times; at += 1) {
        const { action: decided } = sets[action].decide(subject(parseStrictJson(body)));
        if (decided !== action) throw new Error(`${name}: ${decided}`);
      }
    };
    const [base, masked] = compare([run('redact'), run('mask')], rounds).map((us) => us / times / 1_000);
    return { name, base, masked };
  });
}

const pieces = [...Array(400).fill(['and ', 'then ', 'the ', 'module']).flat()];
const frames = {
  messages: (text) =>
    `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}\n\n`,
  chat: (content) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
  responses: (delta) =>
    `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', item_id: 'msg_67ccd2bf', output_index: 0, content_index: 0, delta, sequence_number: 7 })}\n\n`,
};

const maskedValues = () => sets.mask.decide(subject(parseStrictJson(bodies['4 KB, 3 values']))).masked;

/** CPU microseconds of an event in the gateway's own stream, and in the same with values restored. */
export function measureEvents(rounds) {
  const masked = maskedValues();
  const [[placeholder]] = pairsOf(masked);
  const withValues = pieces.flatMap((piece, at) => (at % 40 === 0 ? placeholder.match(/.{1,4}/g) : [piece]));
  return Object.entries(frames).flatMap(([name, frame]) =>
    Object.entries({ 'no value': pieces, 'a value each 40': withValues }).map(([kind, texts]) => {
      const chunks = texts.map((text) => Buffer.from(frame(text)));
      const run = (stages) => () => {
        const stream = streamOf(name, stages());
        for (const chunk of chunks) stream.transform(chunk);
      };
      const runs = [run(() => []), run(() => [new StreamRestorer(new Restorer(masked))])];
      const [base, restored] = compare(runs, rounds).map((us) => us / chunks.length);
      return { name: `${name}, ${kind}`, base, masked: restored };
    }),
  );
}

/** Most bytes of text that a stream holds back at any time, in which values come letter by letter; no clock is read. */
export function measureHeld() {
  const masked = maskedValues();
  const text = [...pairsOf(masked)]
    .map(([placeholder]) => `E ${placeholder} EMAIL_ H ${placeholder}`)
    .join('');
  return Object.entries(frames).map(([name, frame]) => {
    const stream = streamOf(name, [new StreamRestorer(new Restorer(masked))]);
    let left = 0;
    let bytes = 0;
    for (const [at, letter] of [...text].entries()) {
      left +=
        stream
          .transform(Buffer.from(frame(letter)))
          .toString()
          .split('data: ').length - 1;
      bytes = Math.max(bytes, at + 1 - left);
    }
    return { name, bytes, placeholder: Math.max(...[...pairsOf(masked)].map(([{ length }]) => length)) };
  });
}

if (import.meta.filename === process.argv[1]) {
  const print = (title, rows) => {
    console.log(title);
    for (const { name, base, masked } of rows)
      console.log(
        `${name.padEnd(34)} ${base.toFixed(2).padStart(8)} ${masked.toFixed(2).padStart(8)} ${(masked / base).toFixed(2).padStart(6)}`,
      );
  };
  print('request: redact, mask; ms', measureRequests());
  print('event: the gateway’s stream, restored; µs', measureEvents());
  for (const { name, bytes, placeholder } of measureHeld())
    console.log(`${name}: ${bytes} bytes of text held back at most, of a placeholder of ${placeholder}`);
}
