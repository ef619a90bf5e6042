#!/usr/bin/env node
// Edits the configuration of a real gateway at random while requests come in, and counts what came of them.
//   node bench/reload-storm.mjs [--edits 10000] [--seconds 300] [--workers 1] [--seed 1]
// Phase 1 waits for what the gateway logs about every single edit; phase 2, a tenth as many edits, doesn't, and
// lets the watcher and SIGHUP compete. No request may fail, and none may pass that the policy blocks.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    edits: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '300' },
    workers: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
});
const [edits, seconds, workers] = [values.edits, values.seconds, values.workers].map(Number);
const home = mkdtempSync(join(tmpdir(), 'gateway-storm-'));
const file = join(home, 'gateway.yaml');
const key = 'the-key-of-the-storm';

const head = `plants: { store: { enabled: false } }
providers: { sandbox: { dialect: sandbox } }
models: [{ match: "sandbox-*", provider: sandbox }]
projects: { shop: { keys: [{ id: web, value: "\${STORM_KEY}" }] } }
`;
const policies = `policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, when: { text: { phrases: [bluebird] } } }
`;
const whole = head + policies;

// mulberry32
let state = Number(values.seed);
function random(below) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % below;
}

const put = (text) => writeFileSync(file, text, { mode: 0o600 });
const replace = (text) => {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
};
const flipped = (text) => {
  const at = random(text.length);
  return text.slice(0, at) + String.fromCharCode(random(256)) + text.slice(at + 1);
};
// What is valid keeps the rule; what damages the file may leave any bytes outside it.
const kinds = {
  comment: () => put(`# ${random(1e9)}\n${whole}`),
  'another policy': () => replace(`${whole}  p${random(100)}: { apply: all, rules: [${rule()}] }\n`),
  'another key': () => put(whole.replace('value:', `expires: 2${100 + random(800)}-01-01, value:`)),
  'other limits': () => put(`server: { limits: { body_timeout: ${1 + random(100)}s } }\n${whole}`),
  'policies first': () => replace(policies + head),
  deleted: () => rmSync(file, { force: true }),
  empty: () => put(''),
  'comments only': () => put(whole.replace(/^/gm, '# ')),
  cut: () => put(whole.slice(0, random(whole.length - 2))),
  'cut in the middle': () => put(whole.slice(0, random(head.length)) + whole.slice(head.length + random(20))),
  'bytes changed': () => put(flipped(flipped(head)) + policies),
  'no keys': () => put(whole.replace(/keys: \[.*\]/, 'keys: []')),
  'no projects': () => put(whole.replace(/^projects.*\n/m, '')),
  'no policies': () => replace(head),
  'not YAML': () => put('{'.repeat(1 + random(50))),
  'unset key': () => put(whole.replace('STORM_KEY', 'NO_SUCH_KEY')),
  restored: () => put(whole),
};
const rule = () =>
  `{ id: r${random(1000)}, action: block, when: { text: { phrases: [redbird-${random(1000)}] } } }`;

put(whole);
const gateway = spawn(
  process.execPath,
  [
    join(import.meta.dirname, '..', 'bin', 'gateway.js'),
    ...['serve', '-p', '0', '--log', 'json', '-q', '--workers', String(workers)],
  ],
  {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, STORM_KEY: key },
    stdio: ['ignore', 'ignore', 'pipe'],
  },
);
const log = { reloaded: 0, refused: 0, other: [] };
let notify = () => undefined;
createInterface({ input: gateway.stderr }).on('line', (line) => {
  if (line.includes('configuration reloaded')) log.reloaded += 1;
  else if (line.includes('was not reloaded')) log.refused += 1;
  else if (!/"level":(?:30|40)/.test(line)) log.other.push(line);
  notify();
});
const settled = () => log.reloaded + log.refused;

const requests = { answered: 0, blocked: 0, failed: 0, unchecked: 0 };
const failures = new Map();
let isOver = false;
try {
  await until(() => readRunning() !== undefined, 10_000);
  const url = new URL(readRunning().url);
  const load = Promise.all([...Array(8).keys()].map((i) => client(url, i)));
  const byKind = new Map();
  const startMs = performance.now();
  const deadline = startMs + seconds * 1000;
  let done = 0;
  const names = Object.keys(kinds);
  const edit = () => {
    const name = names[random(names.length)];
    kinds[name]();
    byKind.set(name, (byKind.get(name) ?? 0) + 1);
    done += 1;
  };
  while (done < edits && performance.now() < deadline) {
    const before = settled();
    edit();
    gateway.kill('SIGHUP');
    await until(() => settled() > before, 20_000);
  }
  const single = done;
  while (done < single * 1.1) {
    edit();
    if (random(2) === 0) gateway.kill('SIGHUP');
    if (random(4) === 0) await wait(random(20));
  }
  put(whole);
  await wait(1_000);
  isOver = true;
  await load;
  const took = ((performance.now() - startMs) / 1000).toFixed(1);
  console.log(`${done} edits in ${took} s, ${single} of them one by one; workers: ${workers}`);
  console.log(`reloads: ${log.reloaded} followed, ${log.refused} refused`);
  console.log(
    `requests: ${requests.answered} answered, ${requests.blocked} blocked, ${requests.failed} failed, ${requests.unchecked} passed unchecked`,
  );
  console.log([...byKind].map(([name, count]) => `${name} ${count}`).join(' · '));
  for (const [what, count] of failures) console.log(`failed: ${count} × ${what}`);
  for (const line of log.other.slice(0, 10)) console.log(`log: ${line}`);
  if (requests.failed + requests.unchecked > 0) process.exitCode = 1;
} finally {
  isOver = true;
  gateway.kill('SIGTERM');
  await new Promise((resolve) => gateway.once('exit', resolve));
  rmSync(home, { recursive: true, force: true });
}

function readRunning() {
  try {
    return JSON.parse(readFileSync(join(home, '.local/state/gateway/running.json'), 'utf8'));
  } catch {
    return undefined; // not there yet
  }
}

async function until(condition, limitMs) {
  const limit = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > limit) throw new Error(`nothing happened in ${limitMs} ms`);
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, 20);
      notify = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Sends harmless and forbidden prompts in turn, on a kept connection and (every other client) on new ones. */
async function client(url, index) {
  const agent = new Agent({ keepAlive: index % 2 === 0, maxSockets: 1 });
  for (let i = 0; !isOver; i += 1) {
    const isForbidden = i % 2 === 1;
    const status = await post(url, agent, isForbidden ? 'about the bluebird' : 'hello').catch((error) =>
      String(error),
    );
    if (isForbidden && status === 200) requests.unchecked += 1;
    else if (isForbidden && status === 403) requests.blocked += 1;
    else if (!isForbidden && status === 200) requests.answered += 1;
    else {
      requests.failed += 1;
      failures.set(status, (failures.get(status) ?? 0) + 1);
    }
    await wait(2);
  }
  agent.destroy();
}

function post(url, agent, content) {
  const body = JSON.stringify({ model: 'sandbox-mini', messages: [{ role: 'user', content }] });
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-api-key': key,
    };
    request(new URL('/v1/chat/completions', url), { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
      response.on('error', reject);
    })
      .on('error', reject)
      .end(body);
  });
}
