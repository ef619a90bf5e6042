// What hostile bodies cost a running gateway, against a harmless body of the same size in the same run.
// Every rule and detector is on; a last rule blocks all, so that nothing but reading and deciding is timed.
//   npm run build && node bench/policy-hostile.mjs [bytes per body] [rounds]
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { conversation } from './policy-bodies.mjs';

const size = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 7);
const allowed = 10;
const key = 'bench-project-key-0123456789';

// Each is added to all the rules, for a project of its own.
const patterns = [
  '(a+)+$',
  '([a-z]+\\s?)+;',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(?:e|ee|eee)*z',
  'e{40}',
  '[a-z]{20,60}q',
  'the.{0,40}zebra',
  'e.{12}q',
  '.{0,121}needle',
];

// Each for a project of its own, without a rule that blocks: what they redact goes to the sandbox.
const redacting = {
  plain: `{ detect: [credit_card, email, phone, secrets] } }`,
  except: `{ detect: [credit_card, email, phone, secrets] } }, except: { text: { phrases: ["a@b.example"] } }`,
};

const yaml = `
server: { port: 0 }
plants: { store: { enabled: false } }
policies:
  house:
    rules:
      - { id: phrases, action: block, when: { text: { phrases: ["project nightfall", "internal use only", "operation aurora"] } } }
      - { id: patterns, action: block, when: { text: { regex: ['(a+)+$', '(a|aa)+b', '([a-z]+)*=', '(x+x+)+y', '(.*)*needle', '\\bTCK-[0-9]{6}\\b'] } } }
      - { id: detectors, action: redact, when: { text: { detect: [credit_card, email, phone, iban, us_ssn, ip_address, secrets, private_key] } } }
      - { id: caps, action: block, when: { max_output_tokens: { over: 100000 } } }
      - { id: tools, action: block, when: { tools: [shell] } }
  blocks_all:
    rules:
      - { id: last, action: block, when: { bytes: { over: 0 } } }
${Object.entries(redacting)
  .map(
    ([name, text]) =>
      `  redact_${name}:\n    rules: [{ id: redact-${name}, action: redact, when: { text: ${text} }]`,
  )
  .join('\n')}
${patterns.map((pattern, at) => `  more${at}:\n    rules: [{ id: more${at}, action: block, when: { text: { regex: ['${pattern}'] } } }]`).join('\n')}
projects:
${Object.keys(redacting)
  .map(
    (name) =>
      `  redact-${name}: { policies: [redact_${name}], keys: [{ id: redact-${name}, value: "\${BENCH_REDACT_${name}}" }] }`,
  )
  .join('\n')}
  bench: { policies: [house, blocks_all], keys: [{ id: bench, value: "\${BENCH_KEY}" }] }
${patterns.map((_pattern, at) => `  more${at}: { policies: [house, more${at}, blocks_all], keys: [{ id: more${at}, value: "\${BENCH_KEY_${at}}" }] }`).join('\n')}
`;

const saying = (content, more = {}) =>
  JSON.stringify({ model: 'sandbox-mini', max_tokens: 1, messages: [{ role: 'user', content }], ...more });
/** As many of a unit as make a text of the size, behind a mark that no earlier round had. */
const fill = (unit, mark) =>
  `${mark} ${unit.repeat(Math.ceil(size / Buffer.byteLength(JSON.stringify(unit).slice(1, -1))))}`;
const allCharacters = Array.from({ length: 60_000 }, (_, at) => String.fromCodePoint(0xa0 + at))
  .filter((each) => !/\p{Cs}/u.test(each))
  .join('')
  .repeat(9);
const list = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const nest = (depth, inner) => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;

/** Each makes the body of one round. */
const bodies = {
  harmless: (mark) => JSON.stringify(marked(conversation(size), mark)),
  'combining marks, one of each': (mark) => saying(fill('a\u0301\u0323', mark)),
  'combining marks, alternating': (mark) => saying(`${mark} a${'\u0301\u0323'.repeat(size / 4)}`),
  'combining marks of one letter': (mark) => saying(`${mark} a${'\u0335'.repeat(size / 2)}`),
  'U+FDFA, which folds to eighteen': (mark) => saying(fill('\ufdfa', mark)),
  'Hangul jamo': (mark) => saying(fill('\u1112\u1161\u11ab', mark)),
  'format characters': (mark) => saying(fill('p\u200br\u200do\u2060', mark)),
  'tags of another plane': (mark) => saying(fill('\u{e0061}\u{e0062}', mark)),
  'white space': (mark) => saying(fill(' \t', mark)),
  'deep nesting, 99 levels': (mark) =>
    `{"model":"sandbox-mini","messages":[],"x":[${list(size / 200, () => nest(97, '')).join()}],"y":"${mark}"}`,
  'deep nesting, refused': () => `{"model":"sandbox-mini","messages":${'['.repeat(size)}`,
  'a run of digits': (mark) => saying(fill('7', mark)),
  'digits in groups': (mark) => saying(fill('4111 1111 1111 1112 ', mark)),
  'digits with hyphens': (mark) => saying(fill('4111-1111-', mark)),
  'numbers of 400 digits': (mark) =>
    saying('x', { x: `${mark}`, y: 0 }).replace(
      '"y":0',
      `"y":[${list(size / 300, () => '9'.repeat(299)).join()}]`,
    ),
  '100,000 keys': (mark) =>
    saying('x', { x: Object.fromEntries(list(100_000, (at) => [`k${mark}${at}`, 1])) }),
  '100,000 keys, the last twice': () =>
    `${saying('x').slice(0, -1)},"x":{${list(100_000, (at) => `"k${at}":1`).join()},"k99999":2}}`,
  '100,000 keys in escapes': () =>
    `${saying('x').slice(0, -1)},"x":{${list(100_000, (at) => `"\\u006b${at}":1`).join()}}}`,
  'for (a+)+$': (mark) => saying(`${fill('a', mark)}!`),
  'for (a|aa)+b': (mark) => saying(fill('a', mark)),
  'for (x+x+)+y': (mark) => saying(fill('x', mark)),
  'for (.*)*needle': (mark) => saying(fill('needl', mark)),
  'beginnings of phrases': (mark) => saying(fill('project nightfal project night ', mark)),
  'at signs': (mark) => saying(fill('a@b.', mark)),
  'beginnings of keys': (mark) => saying(fill('sk-ant-api03-', mark)),
  'beginnings of private keys': (mark) => saying(fill('-----BEGIN PRIVATE KEY-----', mark)),
  'escapes only': (mark) => saying(`${mark}@`).replace('@', '\\u0061'.repeat(size / 6)),
  'letters of a block each': (mark) =>
    saying(list(size / 26, (at) => ({ type: 'text', text: 'abcdefghij'[(at + mark) % 10] }))),
  'numbers of a block each': (mark) =>
    saying(list(size / 34, (at) => ({ type: 'text', text: `${mark}${at + 10_000}q` }))),
  'all characters': (mark) => saying(`${mark} ${allCharacters.slice(0, size / 3)}`),
  'digits of a block each': (mark) =>
    saying(list(size / 26, (at) => ({ type: 'text', text: String((at + mark) % 10) }))),
  'turns of a letter each': (mark) =>
    saying('x', {
      messages: list(size / 30, (at) => ({ role: 'user', content: 'abcdefghij'[(at + mark) % 10] })),
    }),
  'JSON in JSON': (mark) => saying(jsonInJson(`${mark}`, size)),
  'lists that open in a text': (mark) => saying(`${'['.repeat(size / 2)}${mark}"\\"`),
  'many texts of JSON': (mark) =>
    saying(list(size / 40, (at) => ({ type: 'text', text: `{"a":"${mark}${at}\\n"}` }))),
  'data URLs in data URLs': (mark) => saying(`${'data:,'.repeat(size / 6)}${mark}`),
  'percent signs in a data URL': (mark) => saying(`data:text/plain,${mark}${'%41'.repeat(size / 3)}`),
  'base64 of text': (mark) =>
    saying(
      `data:text/plain;base64,${Buffer.from(fill('the gateway should stream ', mark)).toString('base64').slice(0, size)}`,
    ),
  'base64 of no text': (mark) =>
    saying(`data:text/plain;base64,${Buffer.alloc(size * 0.7, 0x80 + mark).toString('base64')}`),
  'tools with large schemas': (mark) =>
    saying('x', {
      tools: [
        {
          name: `t${mark}`,
          input_schema: {
            properties: Object.fromEntries(
              list(size / 60, (at) => [`p${at}`, { type: 'string', description: 'a value' }]),
            ),
          },
        },
      ],
    }),
};

/** Bodies of which parts are replaced and the result is checked again; their times are shown, not limited. */
const redactable = {
  'harmless, nothing to redact': bodies.harmless,
  'a card in a block of its own': (mark) =>
    saying([
      { type: 'text', text: fill('the gateway should stream ', mark) },
      { type: 'text', text: '4111 1111 1111 1111' },
    ]),
  'addresses in one text, up to the limit': (mark) =>
    saying(`${fill('the gateway should stream ', mark)}${' c@d.example,'.repeat(9_000)}`),
  'addresses that are excepted': (mark) =>
    saying(`${fill('the gateway should stream ', mark)}${' a@b.example,'.repeat(9_000)}`),
  'a block for each address': (mark) =>
    saying(list(size / 60, (at) => ({ type: 'text', text: `write to u${mark}x${at}@d.example` }))),
  'as many blocks, nothing to redact': (mark) =>
    saying(list(size / 60, (at) => ({ type: 'text', text: `write to u${mark}x${at} d.example` }))),
};

/** The same with a mark in every text, so that nothing of it is known from the round before. */
function marked(body, mark) {
  const inText = (block) => {
    if (typeof block.text === 'string') return { ...block, text: `${mark} ${block.text}` };
    return Array.isArray(block.content) ? { ...block, content: block.content.map(inText) } : block;
  };
  const messages = body.messages.map((message) => ({
    ...message,
    content: typeof message.content === 'string' ? `${mark} ${message.content}` : message.content.map(inText),
  }));
  return { ...body, model: 'sandbox-mini', messages };
}

function jsonInJson(text, length) {
  let json = JSON.stringify({ a: text.padEnd(length / 30, ' "quoted" ') });
  while (Buffer.byteLength(json) < length / 2) json = JSON.stringify({ a: json });
  return json;
}

const directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
writeFileSync(join(directory, 'gateway.yaml'), yaml, { mode: 0o600 });
const child = spawn(
  process.execPath,
  [
    join(import.meta.dirname, '..', 'bin', 'gateway.js'),
    'serve',
    '-c',
    join(directory, 'gateway.yaml'),
    '--no-watch',
    '--log',
    'json',
  ],
  {
    env: {
      ...process.env,
      BENCH_KEY: key,
      ...Object.fromEntries(Object.keys(redacting).map((name) => [`BENCH_REDACT_${name}`, `${key}-${name}`])),
      ...Object.fromEntries(patterns.map((_pattern, at) => [`BENCH_KEY_${at}`, `${key}-${at}`])),
      XDG_STATE_HOME: directory,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  },
);

/** Its address, from the line that says so. */
function listening() {
  return new Promise((resolve, reject) => {
    let log = '';
    child.stderr.on('data', (chunk) => {
      if (log === undefined) return;
      log += chunk;
      const found = /"url":"(http:[^"]+)"[^\n]*"msg":"listening"/.exec(log);
      if (found === null) return;
      log = undefined;
      resolve(found[1]);
    });
    child.once('exit', () => reject(new Error(`the gateway did not start: ${log}`)));
  });
}

function post(url, body, headers = {}) {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/v1/messages`,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': key,
          'content-length': body.length,
          ...headers,
        },
      },
      (answer) => {
        let text = '';
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () =>
          resolve({
            ms: performance.now() - started,
            status: answer.statusCode,
            reason: JSON.parse(text).error?.reason ?? answer.headers['x-gateway-body'] ?? '',
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[numbers.length >> 1];
const row = (...cells) =>
  console.log(cells.map((cell, at) => (at === 0 ? cell.padEnd(36) : String(cell).padStart(8))).join('  '));

try {
  const url = await listening();
  let mark = 0;
  /** Sends a body that the gateway has not met; its time and nanoseconds a byte. */
  const time = async (make, headers) => {
    mark += 1;
    const body = Buffer.from(make(mark));
    const answer = await post(url, body, headers);
    return { ...answer, bytes: body.length, perByte: (answer.ms * 1e6) / body.length };
  };
  /** The medians of some rounds, in which a body takes turns with the harmless one, so that both meet the same noise. */
  const compare = async (make, headers, harmlessHeaders = {}) => {
    const pairs = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push([await time(bodies.harmless, harmlessHeaders), await time(make, headers)]);
    }
    const base = median(pairs.map(([harmless]) => harmless.perByte));
    const { bytes, status, reason } = pairs[0][1];
    const ms = median(pairs.map(([, other]) => other.ms));
    return { bytes, ms, ratio: median(pairs.map(([, other]) => other.perByte)) / base, status, reason };
  };
  // What counts is a gateway that has run for a while: the engine compiles what it has met often.
  for (let round = 0; round < 20; round += 1) await time(bodies.harmless);
  for (const make of Object.values(bodies)) await time(make);
  console.log(
    `node ${process.version}, bodies of ${size} bytes, median of ${rounds}; per byte against harmless by turns`,
  );
  row('', 'bytes', 'ms', 'times', 'status');
  let worst = { name: '', times: 0 };
  for (const [name, make] of Object.entries(bodies)) {
    const { bytes, ms, ratio, status, reason } = await compare(make);
    if (ratio > worst.times) worst = { name, times: ratio };
    row(name, bytes, ms.toFixed(1), ratio.toFixed(2), `${status} ${reason}`);
  }
  console.log('\nthe harmless body, with one more pattern among the rules');
  for (const [at, pattern] of patterns.entries()) {
    const { bytes, ms, ratio } = await compare(bodies.harmless, { 'x-api-key': `${key}-${at}` });
    row(pattern, bytes, ms.toFixed(1), ratio.toFixed(2));
  }
  console.log('\npolicies that redact, with their answers from the sandbox, against the first of each');
  for (const name of Object.keys(redacting)) {
    const headers = { 'x-api-key': `${key}-${name}` };
    for (let round = 0; round < 10; round += 1) {
      for (const make of Object.values(redactable)) await time(make, headers);
    }
    for (const [label, make] of Object.entries(redactable)) {
      const { bytes, ms, ratio, status, reason } = await compare(make, headers, headers);
      row(`${name}: ${label}`, bytes, ms.toFixed(1), ratio.toFixed(2), `${status} ${reason}`);
    }
  }
  console.log('');
  const bomb = gzipSync(Buffer.from(saying('x'.repeat(64 * 2 ** 20))));
  const { ms, status } = await post(url, bomb, { 'content-encoding': 'gzip' });
  row('gzip of 64 MiB, refused at 32 MiB', bomb.length, ms.toFixed(1), '', status);
  console.log(`worst: ${worst.name}, ${worst.times.toFixed(2)} times`);
  if (worst.times > allowed) process.exitCode = 1;
} finally {
  child.kill('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
}
