// npm run build && node bench/felt.mjs [rounds]: what a person waits for, in milliseconds from the start of a command:
// `gateway send` against curl to its answer, and `gateway run claude -p` against `claude -p` to the first request at the
// model's host. In turns, so that all see the same machine. Claude Code is the program that CLAUDE names, if it does.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatewayFacts, machineFacts } from './machine.mjs';
import { median, startMeasured } from './measured-gateway.mjs';
import { key } from './start.mjs';

const rounds = Number(process.argv[2] ?? 10);
const program = join(import.meta.dirname, '../bin/gateway.js');
const folder = mkdtempSync(join(tmpdir(), 'gateway-felt-'));
const answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 20, output_tokens: 1 },
};
const frame = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const stream = [
  { type: 'message_start', message: { ...answer, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ok' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 1 },
  },
  { type: 'message_stop' },
]
  .map(frame)
  .join('');

let onMessages = () => undefined;
const host = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { pathname } = new URL(request.url, 'http://host');
  if (pathname !== '/v1/messages') return void response.writeHead(404).end('{}');
  onMessages();
  const isStream = JSON.parse(body).stream === true;
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
  response.end(isStream ? stream : JSON.stringify(answer));
});
await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${host.address().port}`;
const own = `providers: { anthropic: { dialect: anthropic, base_url: "${url}", api_key: "\${HOST_KEY}" } }
models: [{ match: "*", provider: anthropic }]
server: { port: 0 }
plants: { store: { enabled: false } }
`;
const config = `${own}projects: { own: { keys: [{ id: own, value: "\${OWN_KEY}" }] } }\n`;
const keys = { HOST_KEY: 'sk-ant-bench-0123456789abcdef', OWN_KEY: key };
const file = join(folder, 'run.yaml');
writeFileSync(file, own, { mode: 0o600 });

const gateway = await startMeasured(config, keys);
const environment = {
  PATH: process.env.PATH,
  HOME: folder,
  ...keys,
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};
const body = JSON.stringify({
  model: 'claude-sonnet-4-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hello' }],
});
const claude = process.env.CLAUDE;
const cases = {
  'curl to the gateway': () =>
    toEnd('curl', [
      '-sf',
      `${gateway.url}/v1/messages`,
      '-H',
      `x-api-key: ${key}`,
      '-H',
      'content-type: application/json',
      '-H',
      'anthropic-version: 2023-06-01',
      '-d',
      body,
    ]),
  'gateway send': () =>
    toEnd(process.execPath, [program, 'send', '-m', 'claude-sonnet-4-5', 'hello'], {
      GATEWAY_KEY: key,
      GATEWAY_URL: gateway.url,
    }),
  ...(claude !== undefined && {
    'claude -p': () =>
      toFirstRequest(claude, ['-p', 'hello'], { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: keys.HOST_KEY }),
    'gateway run claude -p': () =>
      toFirstRequest(process.execPath, [program, 'run', '-c', file, 'claude', '-p', 'hello'], {
        PATH: `${join(claude, '..')}:${process.env.PATH}`,
      }),
  }),
};

const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
const loads = [loadavg()[0]];
try {
  for (let round = -1; round < rounds; round += 1)
    for (const [name, take] of Object.entries(cases)) {
      const took = await take();
      if (round >= 0) times[name].push(took);
    }
} finally {
  gateway.stop();
  host.close();
  host.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}
loads.push(loadavg()[0]);
console.table(
  Object.entries(times).map(([name, list]) => ({
    command: name,
    'median ms': Math.round(median(list)),
    'min ms': Math.round(Math.min(...list)),
  })),
);
console.log(
  JSON.stringify({ date: new Date().toISOString(), rounds, loads, ...machineFacts(), ...gatewayFacts() }),
);

/** Milliseconds until it has ended. */
async function toEnd(command, argv, more) {
  const startedAt = performance.now();
  await run(command, argv, more);
  return performance.now() - startedAt;
}

/** Milliseconds until the model's host has its first request. */
async function toFirstRequest(command, argv, more) {
  let arrivedAt;
  onMessages = () => {
    arrivedAt ??= performance.now();
  };
  const startedAt = performance.now();
  await run(command, argv, more);
  if (arrivedAt === undefined) throw new Error(`${argv[0]} has sent no request`);
  return arrivedAt - startedAt;
}

/** Resolves at its end. Throws if it fails, or takes longer than a minute. */
async function run(command, argv, more) {
  const child = spawn(command, argv, {
    env: { ...environment, ...more },
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 60_000,
  });
  let words = '';
  child.stderr.on('data', (text) => {
    words += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${command} ${argv[1]} ended with ${code}: ${words}`);
}
