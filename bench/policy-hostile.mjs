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
import { hostileBodies, saying } from './hostile-bodies.mjs';

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
      - { id: detectors, action: redact, when: { text: { detect: [credit_card, email, phone, iban, us_ssn, ip_address, { secrets: possible }, private_key] } } }
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

const { blocked: bodies, redactable } = hostileBodies(size);

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
