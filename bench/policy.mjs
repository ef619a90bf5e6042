// What a policy decision costs, against JSON.parse(buffer.toString()) of the same bytes in the same run.
//   npm run build:modules && node bench/policy.mjs
import { performance } from 'node:perf_hooks';
import { dialects } from '../build/dialects/registry.js';
import { parseStrictJson } from '../build/json/strict-json.js';
import { compilePolicies } from '../build/policy/compile.js';
import { policySchema } from '../build/policy/rules/schema.js';
import { conversation } from './policy-bodies.mjs';

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

/** Median of some runs, each on an input of its own; runs of two kinds take turns, so that both meet the same noise. */
function medians(rounds, runs) {
  const samples = runs.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    runs.forEach((run, at) => {
      const timed = run(round);
      const started = performance.now();
      timed();
      samples[at].push(performance.now() - started);
    });
  }
  return samples.map((each) => each.sort((one, other) => one - other)[each.length >> 1]);
}

/** The conversation with a mark in each text, so that every body is another. */
function marked(body, mark) {
  const inText = (block) => {
    if (typeof block.text === 'string') return { ...block, text: mark + block.text };
    return Array.isArray(block.content) ? { ...block, content: block.content.map(inText) } : block;
  };
  const messages = body.messages.map((message) => ({
    ...message,
    content: typeof message.content === 'string' ? mark + message.content : message.content.map(inText),
  }));
  return { ...body, messages };
}

const sizes = [
  ['4 KB', 4_000],
  ['360 KB', 360_000],
  ['1 MB', 1_000_000],
];
const row = (...cells) =>
  console.log(cells.map((cell, at) => String(cell).padEnd(at === 0 ? 38 : 15)).join(''));
console.log(`node ${process.version}; milliseconds, and times JSON.parse(buffer.toString()) in brackets`);
row('', 'JSON.parse', 'strict read', 'decision');
for (const [policyName, policy] of Object.entries(policies)) {
  for (const isMixed of [false, true]) {
    for (const [label, size] of sizes) {
      // Small bodies many times: what counts is a gateway that has run for a while.
      const rounds = size < 10_000 ? 3_000 : 40;
      const body = conversation(size, { isMixed });
      const buffers = Array.from({ length: rounds }, (_, round) =>
        Buffer.from(JSON.stringify(marked(body, `${round} `))),
      );
      const set = compile(policy);
      const decide = (buffer) => set.decide(subject(parseStrictJson(buffer)));
      const decision = decide(buffers[0]);
      if (decision.action !== 'allow') throw new Error(JSON.stringify(decision.refusal));
      for (let round = 0; round < 24; round += 1) {
        decide(Buffer.from(JSON.stringify(marked(body, `w${round}`))));
      }
      const [parse, read, whole] = medians(rounds, [
        (round) => () => JSON.parse(buffers[round].toString()),
        (round) => () => parseStrictJson(buffers[round]),
        (round) => () => decide(buffers[round]),
      ]);
      const cell = (ms) => `${ms.toFixed(3)} (${(ms / parse).toFixed(2)})`;
      row(
        `${policyName}, ${isMixed ? 'mixed' : 'ASCII'} ${label}`,
        parse.toFixed(3),
        cell(read),
        cell(whole),
      );
    }
  }
}
