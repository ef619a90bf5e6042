// A gateway with or without its live page, in front of a provider that answers at once; for the page's benchmarks.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort, launch, stop } from './processes.mjs';
import { key } from './start.mjs';

const connections = 8;
const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'word '.repeat(60) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 40, completion_tokens: 60, total_tokens: 100 },
});
const body = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'Explain what a reverse proxy does.' }],
});

export async function startProvider() {
  const provider = createServer((incoming, outgoing) => {
    incoming
      .resume()
      .on('end', () => outgoing.writeHead(200, { 'content-type': 'application/json' }).end(answer));
  });
  await new Promise((resolve) => provider.listen(0, '127.0.0.1', resolve));
  return provider;
}

export async function startGateway({ provider, enabled, nodeOptions = [], stdout = 'ignore' }) {
  const home = mkdtempSync(join(tmpdir(), 'gateway-inspector-bench-'));
  const port = await freePort();
  const file = join(home, 'gateway.yaml');
  writeFileSync(
    file,
    `plants: { store: { enabled: false } }
inspector: { enabled: ${enabled} }
records: { ledger: false }
providers: { host: { dialect: openai, base_url: "http://127.0.0.1:${provider.address().port}/v1", connections: 64 } }
models: [{ match: m, provider: host }]
projects: { shop: { keys: [{ id: web, value: "\${BENCH_KEY}" }] } }
`,
    { mode: 0o600 },
  );
  const options = ['-c', file, '-p', String(port), '-q', '--log', 'json'];
  const command = [process.execPath, ...nodeOptions, 'bin/gateway.js', 'serve', ...options];
  const child = launch({ command, environment: { HOME: home, BENCH_KEY: key }, core: '1', stdout });
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const gateway = {
    child,
    port,
    home,
    agent,
    async stop() {
      agent.destroy();
      await stop(child);
      rmSync(home, { recursive: true });
    },
  };
  for (let tries = 0; ; tries += 1) {
    try {
      await ask(gateway);
      return gateway;
    } catch (error) {
      if (tries > 100) throw error;
      await wait(100);
    }
  }
}

/** A token that opens one session, as `gateway open` gets it. */
export async function issueToken({ port, home }) {
  const { proof } = JSON.parse(readFileSync(join(home, '.local/state/gateway/running.json'), 'utf8'));
  const response = await fetch(`http://127.0.0.1:${port}/_/api/link`, {
    method: 'POST',
    headers: { 'x-gateway-challenge': proof.challenge },
  });
  return (await response.json()).token;
}

export function ask({ port, agent }) {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'bench/1.0',
    };
    const options = { port, host: '127.0.0.1', path: '/v1/chat/completions', method: 'POST', headers, agent };
    request(options, (response) => {
      const isRight = response.statusCode === 200;
      response
        .resume()
        .on('end', () => (isRight ? resolve() : reject(new Error(`status ${response.statusCode}`))));
    })
      .on('error', reject)
      .end(body);
  });
}

/** As many as eight connections ask for. */
export async function burst(gateway, count) {
  let left = count;
  const work = async () => {
    while (left-- > 0) await ask(gateway);
  };
  await Promise.all(Array.from({ length: connections }, work));
  return count;
}

/** So many a second, evenly. */
export async function pace(gateway, { perSecond, seconds }) {
  const count = perSecond * seconds;
  const startedAt = performance.now();
  const asked = [];
  for (let i = 0; i < count; i += 1) {
    const due = startedAt + (i * 1_000) / perSecond - performance.now();
    if (due > 1) await wait(due);
    asked.push(ask(gateway));
  }
  await Promise.all(asked);
  return count;
}
