// What a policy decision costs, against JSON.parse(buffer.toString()) of the same bytes in the same run.
//   npm run build && node bench/policy.mjs [milliseconds per figure]
import { performance } from 'node:perf_hooks';
import { dialects } from '../dist/dialects/registry.js';
import { parseStrictJson } from '../dist/dialects/strict-json.js';
import { compilePolicies } from '../dist/policy/compile.js';
import { policySchema } from '../dist/policy/registry.js';
import { conversation, withTurn } from './policy-bodies.mjs';

const budgetMs = Number(process.argv[2] ?? 400);
const names = 'aurora zeus falcon orion titan nebula comet saturn apollo hermes'.split(' ');
const phrases = ['project', 'codename', 'operation', 'internal', 'secret'].flatMap((noun) =>
  names.map((name) => `${noun} ${name}`),
);
const patterns = [
  '\\bACME-[0-9]{5}\\b',
  '\\bTCK-[0-9]{6}\\b',
  '\\bEMP[0-9]{8}\\b',
  'password\\s*[:=]\\s*\\S{6,}',
  'secret_key\\s*[:=]',
  'postgres(?:ql)?://\\S+',
  'mongodb(?:\\+srv)?://\\S+',
  '\\bAKIA[0-9A-Z]{16}\\b',
  '\\bghp_[A-Za-z0-9]{36}\\b',
  '\\bxox[baprs]-[A-Za-z0-9-]{10,}',
  '\\bAIza[0-9A-Za-z_-]{35}\\b',
  '\\bSG\\.[A-Za-z0-9_-]{22}\\.',
  'confidential(?:ly)?\\s+(?:draft|memo)',
  '\\bcase no\\. [0-9]{4}/[0-9]+',
  '(?:internal|restricted) use only',
  '\\b(?:[0-9]{1,3}\\.){3}[0-9]{1,3}/[0-9]{2}\\b',
  '\\bkey-[0-9a-f]{32}\\b',
  'jdbc:[a-z]+://',
  'BEGIN CERTIFICATE REQUEST',
  '\\bDOB[: ]+[0-9]{2}/[0-9]{2}/[0-9]{4}',
];
const detect = ['credit_card', 'email', 'phone', 'iban', 'us_ssn', 'ip_address', 'secrets', 'private_key'];
const rule = (id, text) => ({ id, action: 'block', when: { text } });
const full = {
  rules: [rule('phrases', { phrases }), rule('patterns', { regex: patterns }), rule('detect', { detect })],
};
const policies = {
  full,
  'no detectors': { rules: full.rules.slice(0, 2) },
  'detectors only': { rules: full.rules.slice(2) },
};

const dialect = dialects.messages;
const subject = (document) => ({
  document,
  dialect,
  endpoint: 'messages',
  model: 'm',
  targetModels: [],
  stream: false,
  project: 'p',
  key: 'k',
  nowMs: 0,
});
const compile = (policy) =>
  compilePolicies({ policy: policySchema.parse(policy) }, ['sk-provider-0123456789abcdef']).select([
    'policy',
  ]);

function median(run, prepare = () => undefined) {
  const samples = [];
  const end = performance.now() + budgetMs;
  while (samples.length < 7 || (performance.now() < end && samples.length < 2000)) {
    const prepared = prepare();
    const started = performance.now();
    run(prepared);
    samples.push(performance.now() - started);
  }
  samples.sort((one, other) => one - other);
  return samples[samples.length >> 1];
}

/** Fresh bytes and fresh texts each time, so that nothing is remembered but the automaton itself. */
function freshBodies(body) {
  let round = 0;
  return () => {
    round += 1;
    const tag = `${round} `;
    const messages = body.messages.map((message) => ({
      ...message,
      content:
        typeof message.content === 'string'
          ? tag + message.content
          : message.content.map((block) => tagged(block, tag)),
    }));
    return Buffer.from(JSON.stringify({ ...body, messages }));
  };
}
function tagged(block, tag) {
  if (typeof block.text === 'string') return { ...block, text: tag + block.text };
  return Array.isArray(block.content)
    ? { ...block, content: block.content.map((inner) => tagged(inner, tag)) }
    : block;
}

const sizes = [
  ['4 KB', 4_000],
  ['360 KB', 360_000],
  ['1 MB', 1_000_000],
];
const row = (...cells) =>
  console.log(cells.map((cell, at) => String(cell).padEnd(at === 0 ? 34 : 12)).join(''));
console.log(`node ${process.version}; milliseconds, and times JSON.parse(buffer.toString()) in brackets`);
row('', 'JSON.parse', 'strict read', 'cold', 'a turn more', 'decided again');
for (const [policyName, policy] of Object.entries(policies)) {
  for (const isMixed of [false, true]) {
    for (const [label, size] of sizes) {
      const body = conversation(size, { isMixed });
      const bytes = Buffer.from(JSON.stringify(body));
      const fresh = freshBodies(body);
      const set = compile(policy);
      const decide = (buffer) => set.decide(subject(parseStrictJson(buffer)));
      const decision = decide(bytes);
      if (decision.action !== 'allow') throw new Error(JSON.stringify(decision.refusal));
      const parse = median(() => JSON.parse(bytes.toString()));
      const read = median(() => parseStrictJson(bytes));
      const cold = median(decide, fresh);
      const more = Buffer.from(JSON.stringify(withTurn(body)));
      const turn = median(
        ({ used, buffer }) => used.decide(subject(parseStrictJson(buffer))),
        () => {
          // A set of its own, warmed by other texts and then by this conversation without the turn.
          const used = set;
          const base = fresh();
          used.decide(subject(parseStrictJson(base)));
          const next = JSON.parse(base.toString());
          next.messages.push(
            ...withTurn(body)
              .messages.slice(-2)
              .map((message) => ({
                ...message,
                content: JSON.parse(
                  JSON.stringify(message.content).replace('the', `the ${performance.now()}`),
                ),
              })),
          );
          return { used, buffer: Buffer.from(JSON.stringify(next)) };
        },
      );
      const again = median(() => decide(more));
      const cell = (ms) => `${ms.toFixed(3)} (${(ms / parse).toFixed(2)})`;
      row(
        `${policyName}, ${isMixed ? 'mixed' : 'ASCII'} ${label}`,
        parse.toFixed(3),
        cell(read),
        cell(cold),
        cell(turn),
        cell(again),
      );
    }
  }
}
