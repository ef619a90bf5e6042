// What a policy decision costs, against JSON.parse(buffer.toString()) of the same bytes in the same run.
//   npm run build:modules && node bench/policy.mjs
import { performance } from 'node:perf_hooks';
import { dialects } from '../build/dialects/registry.js';
import { BodyCache } from '../build/json/body-cache.js';
import { parseStrictJson } from '../build/json/strict-json.js';
import { compilePolicies } from '../build/policy/compile.js';
import { policySchema } from '../build/policy/rules/schema.js';
import { conversation, withTurn } from './policy-bodies.mjs';

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

/** The conversation with a mark in each text, so that nothing of it is remembered from another round. */
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
row('', 'JSON.parse', 'strict read', 'cold', 'a turn more', 'again');
for (const [policyName, policy] of Object.entries(policies)) {
  for (const isMixed of [false, true]) {
    for (const [label, size] of sizes) {
      // Small bodies many times: what counts is a gateway that has run for a while.
      const rounds = size < 10_000 ? 3_000 : 40;
      const body = conversation(size, { isMixed });
      const texts = Array.from({ length: rounds * 2 }, (_, round) => marked(body, `${round} `));
      const cold = texts.slice(0, rounds).map((text) => Buffer.from(JSON.stringify(text)));
      const known = texts.slice(rounds).map((text) => Buffer.from(JSON.stringify(text)));
      const longer = texts
        .slice(rounds)
        .map((text, round) => Buffer.from(JSON.stringify(withTurn(text, `${round} `))));
      const set = compile(policy);
      const bodies = new BodyCache();
      const decide = (buffer) => set.decide(subject(bodies.read(buffer)));
      const decision = decide(cold[0]);
      if (decision.action !== 'allow') throw new Error(JSON.stringify(decision.refusal));
      for (let round = 0; round < 3; round += 1)
        for (const each of Array.from({ length: 8 }, (_, mark) => marked(body, `w${round}${mark}`))) {
          decide(Buffer.from(JSON.stringify(each)));
          decide(Buffer.from(JSON.stringify(withTurn(each, 'w'))));
        }
      const [parse, read, first, turn, again] = medians(rounds, [
        (round) => () => JSON.parse(longer[round].toString()),
        (round) => () => parseStrictJson(longer[round]),
        (round) => () => decide(cold[round]),
        (round) => {
          decide(known[round]);
          return () => decide(longer[round]);
        },
        (round) => () => decide(longer[round]),
      ]);
      const cell = (ms) => `${ms.toFixed(3)} (${(ms / parse).toFixed(2)})`;
      row(
        `${policyName}, ${isMixed ? 'mixed' : 'ASCII'} ${label}`,
        parse.toFixed(3),
        cell(read),
        cell(first),
        cell(turn),
        cell(again),
      );
    }
  }
}
hostile();

/**
 * Bodies made to be slow, against a harmless conversation of the same size. No verdict is remembered in either: each
 * round has a mark of its own in the texts. `first`: by a policy just compiled, whose tables are empty; `later`:
 * by one that has read such bodies before, as in a gateway that runs.
 */
function hostile() {
  const size = 1_000_000;
  const saying = (content) =>
    Buffer.from(JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content }] }));
  const fill = (unit) => {
    const count = Math.ceil(size / Buffer.byteLength(JSON.stringify(unit).slice(1, -1)));
    return (mark) => saying(`${mark} ${unit.repeat(count)}`);
  };
  const list = (length, make) => Array.from({ length }, (_, at) => make(at));
  const nested = (depth) => `${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`;
  const codePoints = list(60_000, (at) => String.fromCodePoint(0xa0 + at)).filter(
    (each) => !/\p{Cs}/u.test(each),
  );
  const harmless = conversation(size);
  const bodies = {
    harmless: (mark) => Buffer.from(JSON.stringify(marked(harmless, `${mark} `))),
    'combining marks': fill('a\u0301\u0323'),
    'the character that folds to eighteen': fill('\ufdfa'),
    'a run of digits': fill('4111 1111 1111 1112 '),
    'digits with hyphens': fill('4111-1111-'),
    'digits in one piece': fill('7'),
    'accounts that are none': fill('DE89 3704 0044 0532 0130 01 '),
    addresses: fill('1.2.3.4.5 v1.2.3.4 '),
    'all characters': (mark) =>
      saying(
        `${mark} ${codePoints
          .join('')
          .repeat(9)
          .slice(0, size / 3)}`,
      ),
    escapes: (mark) =>
      Buffer.from(
        saying(`${mark}@`)
          .toString()
          .replace('@', '\\u0061'.repeat(size / 6)),
      ),
    'for (a+)+$': fill('a'),
    'beginnings of phrases': fill('project proje internal intern '),
    'at signs': fill('a@b.'),
    schemes: fill('://a'),
    'beginnings of keys': fill('sk-ant-api03-'),
    'beginnings of many keys': fill('xoxb-1234567890-1234567890-npm_ghp_T3BlbkFJ'),
    'key lines': fill('-----BEGIN PRIVATE KEY-----'),
    'small blocks': (mark) =>
      saying(list(size / 26, (at) => ({ type: 'text', text: 'abcdefghij'[(at + mark) % 10] }))),
    'small blocks with digits': (mark) =>
      saying(list(size / 26, (at) => ({ type: 'text', text: String((at + mark) % 10) }))),
    'small blocks with numbers': (mark) =>
      saying(list(size / 34, (at) => ({ type: 'text', text: `${mark}${at + 10_000}q` }))),
    'deep nesting': (mark) =>
      Buffer.from(
        `{"model":"m","messages":[],"x":[${list(size / 400, () => nested(45)).join()}],"y":"${mark}"}`,
      ),
    'many keys': (mark) =>
      Buffer.from(
        JSON.stringify({
          model: 'm',
          messages: [],
          x: Object.fromEntries(list(size / 13, (at) => [`k${mark}${at}`, at])),
        }),
      ),
    'many texts of JSON': (mark) =>
      saying(list(size / 40, (at) => ({ type: 'text', text: `{"a":"${mark}${at}\\n"}` }))),
    'calls in calls': (mark) =>
      saying([
        {
          type: 'tool_use',
          id: 'a',
          name: 'b',
          input: { q: JSON.stringify({ r: JSON.stringify({ s: mark + '\\"'.repeat(size / 32) }) }) },
        },
      ]),
    'data URLs in data URLs': (mark) => saying('data:,'.repeat(size / 6) + mark),
  };
  const evil = {
    rules: [...full.rules, rule('evil', { regex: ['(a+)+$', '(a|aa)+b', '([a-z]+)*=', '.{0,400}needle'] })],
  };
  const forgetful = new BodyCache({ limitBytes: 0 });
  const timed = (set, bytes) => {
    const started = process.cpuUsage();
    set.decide(subject(forgetful.read(bytes)));
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1000 / bytes.length;
  };
  let marks = 100;
  const least = (numbers) => Math.min(...numbers);
  console.log(
    '\nhostile bodies of 1 MB, no verdict cached: milliseconds of CPU, and times a harmless one of the same size',
  );
  row('', 'first', '', 'later', '');
  const warm = new Map([full, evil].map((policy) => [policy, compile(policy)]));
  for (const set of warm.values()) for (let mark = 0; mark < 5; mark += 1) timed(set, bodies.harmless(mark));
  for (const [name, make] of Object.entries(bodies)) {
    const policy = name === 'for (a+)+$' ? evil : full;
    // By turns with a harmless one, so that both meet the same noise.
    const against = (rounds, set) => {
      const pairs = list(rounds, () => {
        marks += 1;
        return [timed(set(full), bodies.harmless(marks)), timed(set(policy), make(marks))];
      });
      const ns = least(pairs.map(([, hostile]) => hostile));
      return [(ns * size).toFixed(1), (ns / least(pairs.map(([base]) => base))).toFixed(2)];
    };
    row(name, ...against(3, compile), ...against(5, (each) => warm.get(each)));
  }
}
