// What masking costs a stream through the whole gateway: CPU of its process per event, and the time to the first byte,
// of answers to the same request with a key whose policy masks and with one whose policy does not; in turns. After
// npm run build: node bench/mask-streams.mjs; a section of npm run bench too.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const events = 400;
const streams = 20;
const words = ['and ', 'then ', 'the ', 'module '];
const frame = (content) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

/** The least of ten: what a busy machine adds is in the others. */
const low = (list) => list.toSorted((one, other) => one - other)[Math.floor(list.length / 10)];
const median = (list) => list.toSorted((one, other) => one - other)[list.length >> 1];

/** CPU microseconds per event, and milliseconds to the first byte, without and with masking. */
export async function measureMaskedStreams(rounds = 24) {
  /** An event in each turn of the loop; each fortieth five begin a value of the request. */
  const host = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const [value = 'ann@example.com'] = /EMAIL_[A-Z]{13}|ann@example\.com/.exec(body) ?? [];
    const isShort = body.includes('shortly');
    const pieces = Array.from({ length: isShort ? 2 : events }, (_, at) => words[at % 4]);
    if (body.includes('with values'))
      // Not at once: the first byte of an answer that begins with a placeholder waits for the end of that.
      for (let at = 1; at + 5 < events; at += 40)
        pieces.splice(at, 5, ...(value.match(/.{1,4}/g) ?? []).slice(0, 5));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) {
      response.write(frame(piece));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end('data: [DONE]\n\n');
  });
  await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve));

  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  writeFileSync(
    join(folder, 'gateway.yaml'),
    `providers: { o: { dialect: openai, base_url: "http://127.0.0.1:${host.address().port}/v1", api_key: "\${K}" } }
models: [{ match: "*", provider: o }]
server: { port: 0 }
policies:
  masking: { rules: [{ id: m, action: mask, when: { text: { detect: [email] } } }] }
  warning: { rules: [{ id: w, action: warn, when: { text: { detect: [email] } } }] }
projects:
  mask: { policies: [masking], keys: [{ id: mask, value: "\${MASKED}" }] }
  none: { policies: [warning], keys: [{ id: none, value: "\${PLAIN}" }] }
plants: { store: { enabled: false } }
`,
    { mode: 0o600 },
  );
  const keys = { none: 'plain-key-0123456789abcdef', mask: 'masked-key-0123456789abcdef' };
  const gateway = spawn(
    process.execPath,
    [
      new URL('../bin/gateway.js', import.meta.url).pathname,
      'serve',
      '-c',
      join(folder, 'gateway.yaml'),
      '--port',
      '0',
    ],
    {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        K: 'provider-key-0123456789',
        PLAIN: keys.none,
        MASKED: keys.mask,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const url = await new Promise((resolve, reject) => {
    let text = '';
    const look = (chunk) => {
      text += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    };
    gateway.stdout.on('data', look);
    gateway.stderr.on('data', look);
    gateway.on('exit', () => reject(new Error(text)));
  });

  /** Nanoseconds of CPU of the gateway's main thread so far. */
  function cpu() {
    return Number(readFileSync(`/proc/${gateway.pid}/schedstat`, 'utf8').split(' ')[0]);
  }

  const agent = new http.Agent({ keepAlive: true });
  function ask(key, text) {
    return new Promise((resolve, reject) => {
      const start = performance.now();
      const request = http.request(
        `${url}/v1/chat/completions`,
        {
          method: 'POST',
          agent,
          headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        },
        (response) => {
          let first;
          let bytes = '';
          response.on('data', (chunk) => {
            first ??= performance.now() - start;
            bytes += chunk;
          });
          response.on('end', () =>
            response.statusCode === 200 ? resolve({ first, bytes }) : reject(new Error(bytes)),
          );
        },
      );
      request.on('error', reject);
      request.end(JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: text }] }));
    });
  }

  const rows = [];
  const asked = { 'no value': 'mail ann@example.com', 'a value each 40': 'mail ann@example.com with values' };
  for (const [name, text] of Object.entries(asked)) {
    const used = { none: [], mask: [] };
    const firsts = { none: [], mask: [] };
    for (let round = 0; round <= rounds; round += 1)
      for (const [policy, key] of Object.entries(keys)) {
        const before = cpu();
        await Promise.all(Array.from({ length: streams }, () => ask(key, text)));
        if (round > 0) used[policy].push((cpu() - before) / 1_000);
      }
    for (let count = 0; count < 800; count += 1)
      for (const [policy, key] of Object.entries(keys))
        firsts[policy].push((await ask(key, `${text} shortly`)).first);
    const perEvent = (policy) => median(used[policy]) / events / streams;
    const of = (figure) => ({ base: figure('none'), masked: figure('mask') });
    rows.push({ name, cpu: of(perEvent), first: of((policy) => low(firsts[policy])) });
  }
  gateway.kill();
  host.close();
  agent.destroy();
  rmSync(folder, { recursive: true });
  return rows;
}

if (import.meta.filename === process.argv[1]) {
  for (const { name, cpu, first } of await measureMaskedStreams())
    console.log(
      `${name.padEnd(34)} CPU per event: ${cpu.base.toFixed(2)} µs, ${cpu.masked.toFixed(2)} µs masked, ${(cpu.masked / cpu.base).toFixed(3)}; first byte ${first.base.toFixed(2)} ms, ${first.masked.toFixed(2)} ms`,
    );
}
