#!/usr/bin/env node
// Whether an agent's long work finds a provider's prompt caches behind the gateway as it does without it.
//   npm run build && AGENTS_BIN=FOLDER node bench/agent-caches.mjs [--agents claude,codex] [--sessions 5] [--turns 60]
// FOLDER has the real `claude` and `codex`. They use scripted logins, and continue one conversation over all sessions; each
// turn is a call of a tool that a scripted host asks for, until the session's last. Prints the host's bookkeeping.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messagesCache, responsesCache } from './prompt-caches.mjs';

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: 'claude,codex' },
    sessions: { type: 'string', default: '5' },
    turns: { type: 'string', default: '60' },
  },
});
const sessions = Number(values.sessions);
const turns = Number(values.turns);
const bin = process.env.AGENTS_BIN;
if (bin === undefined) throw new Error('AGENTS_BIN is not set');
const gateway = join(import.meta.dirname, '..', 'bin', 'gateway.js');

const base64 = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const account = { chatgpt_account_id: 'acc-1', chatgpt_plan_type: 'plus', chatgpt_user_id: 'user-1' };
const claims = { exp: 4_000_000_000, email: 'a@example.com', 'https://api.openai.com/auth': account };
const webToken = `${base64({ alg: 'RS256', typ: 'JWT' })}.${base64(claims)}.${'c2ln'.repeat(20)}`;
const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const agents = {
  claude: {
    cache: messagesCache,
    path: '/v1/messages',
    file: '.claude/.credentials.json',
    login: {
      claudeAiOauth: {
        ...{
          accessToken: `sk-ant-oat01-${'a1'.repeat(40)}`,
          refreshToken: `sk-ant-ort01-${'b2'.repeat(40)}`,
        },
        ...{ expiresAt: 4e12, scopes: ['user:inference', 'user:profile'], subscriptionType: 'max' },
      },
    },
    provider: (url) => `{ dialect: anthropic, base_url: "${url}", credentials: client }`,
    direct: (url) => ({ env: { ANTHROPIC_BASE_URL: url }, before: [] }),
    // A file that it may read without asking, another line each time.
    ask: (i) => ['Read', { file_path: 'notes.txt', offset: 1 + (i % 400), limit: 1 }],
    words: (isFirst) => [
      '-p',
      ...(isFirst ? [] : ['--continue']),
      '--allowedTools',
      'Read',
      '--',
      'Read the notes.',
    ],
    events: (content, usage) => [
      {
        type: 'message_start',
        message: {
          id: content.id,
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      },
      {
        type: 'content_block_start',
        index: 0,
        content_block:
          content.call === undefined
            ? { type: 'text', text: '' }
            : { type: 'tool_use', id: `toolu_${content.id}`, name: content.call[0], input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta:
          content.call === undefined
            ? { type: 'text_delta', text: 'Done.' }
            : { type: 'input_json_delta', partial_json: JSON.stringify(content.call[1]) },
      },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: content.call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
        usage: { output_tokens: 30 },
      },
      { type: 'message_stop' },
    ],
    usage: ({ bytes, cached }) => ({
      input_tokens: 4,
      cache_read_input_tokens: Math.floor(cached / 4),
      cache_creation_input_tokens: Math.floor((bytes - cached) / 4),
    }),
  },
  codex: {
    cache: responsesCache,
    path: '/backend-api/codex/responses',
    file: '.codex/auth.json',
    login: {
      ...{ auth_mode: 'chatgpt', OPENAI_API_KEY: null, last_refresh: new Date().toISOString() },
      tokens: {
        id_token: webToken,
        access_token: webToken,
        refresh_token: `rt_${'c3'.repeat(20)}`,
        account_id: 'acc-1',
      },
    },
    provider: (url) =>
      `{ dialect: openai, base_url: "${url}/backend-api/codex", endpoints: [responses], credentials: client }`,
    direct: (url) => ({
      env: {},
      before: [
        '-c',
        'model_provider="gateway"',
        '-c',
        `model_providers.gateway={name="gateway", base_url="${url}/backend-api/codex", requires_openai_auth=true, wire_api="responses", supports_websockets=false}`,
      ],
    }),
    // Its tools come in the input: one that takes a script, which calls the others.
    ask: (i) => [
      'exec',
      `text((await tools.exec_command({ cmd: "sed -n ${1 + (i % 400)}p notes.txt" })).output)`,
    ],
    words: (isFirst) => [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      ...(isFirst ? [] : ['resume', '--last']),
      'Read the notes.',
    ],
    events: ({ id, call }, usage) => {
      const item =
        call === undefined
          ? {
              type: 'message',
              id: `m_${id}`,
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
            }
          : {
              type: 'custom_tool_call',
              id: `ctc_${id}`,
              call_id: `call_${id}`,
              name: call[0],
              input: call[1],
              status: 'completed',
            };
      const response = { id: `resp_${id}`, status: 'in_progress', model: 'gpt-5', output: [] };
      return [
        { type: 'response.created', response },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: { ...response, status: 'completed', usage } },
      ].map((each, i) => ({ ...each, sequence_number: i }));
    },
    usage: ({ bytes, cached }) => ({
      input_tokens: Math.floor(bytes / 4),
      input_tokens_details: { cached_tokens: Math.floor(cached / 4) },
      output_tokens: 30,
      total_tokens: Math.floor(bytes / 4) + 30,
    }),
  },
};

/** Asks for a tool in each turn of a session but the last, and keeps account. */
async function startProvider(agent) {
  const account = agent.cache();
  const counted = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (!request.url.startsWith(agent.path) || request.method !== 'POST')
      return response.writeHead(404).end('{}');
    const body = JSON.parse(Buffer.concat(chunks));
    if (request.url.includes('count_tokens')) return response.writeHead(404).end('{}');
    const found = account({ headers: request.headers, target: request.url, body });
    const isWork = body.tools?.length > 0 || body.input?.[0]?.type === 'additional_tools';
    if (isWork) counted.push(found);
    const turn = counted.length - 1;
    const isLast = !isWork || (turn + 1) % turns === 0;
    const content = { id: String(turn).padStart(6, '0'), call: isLast ? undefined : agent.ask(turn) };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const each of agent.events(content, agent.usage(found))) response.write(event(each));
    return response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => new Promise((resolve) => server.close(resolve) && server.closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}`, counted, stop };
}

async function work(name, isThrough) {
  const agent = agents[name];
  const provider = await startProvider(agent);
  const home = mkdtempSync(join(tmpdir(), 'agent-'));
  mkdirSync(join(home, agent.file, '..'), { recursive: true });
  writeFileSync(join(home, agent.file), JSON.stringify(agent.login), { mode: 0o600 });
  writeFileSync(
    join(home, 'notes.txt'),
    Array.from({ length: 400 }, (_, i) => `note ${i}: ${'lily '.repeat(20)}`).join('\n'),
  );
  writeFileSync(
    join(home, 'gateway.yaml'),
    `providers: { own: ${agent.provider(provider.url)} }\nmodels: [{ match: "*", provider: own }]\n`,
    { mode: 0o600 },
  );
  const { env, before } = agent.direct(provider.url);
  const startedAt = performance.now();
  for (let session = 0; session < sessions; session += 1) {
    const words = agent.words(session === 0);
    const argv = isThrough
      ? [process.execPath, gateway, '-c', 'gateway.yaml', 'run', name, ...words]
      : [join(bin, name), ...before, ...words];
    await run(argv, home, isThrough ? {} : env);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await provider.stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  return { counted: provider.counted, seconds };
}

function run([program, ...words], home, env) {
  const own = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
  const child = spawn(program, words, {
    cwd: home,
    env: { ...own, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ${words.join(' ')}: exit ${code}\n${output}`)),
    );
  });
}

for (const name of values.agents.split(',')) {
  const rows = [];
  for (const isThrough of [false, true]) {
    const { counted, seconds } = await work(name, isThrough);
    const sum = (of) => counted.reduce((total, each) => total + of(each), 0);
    const [bytes, cached] = [sum((each) => each.bytes), sum((each) => each.cached)];
    const missed = counted.filter((each) => each.cached === 0).length;
    rows.push(counted);
    console.log(
      `${name} ${isThrough ? 'through the gateway' : 'without it'}: ${counted.length} requests in ${sessions} sessions, ${seconds.toFixed(0)} s; ` +
        `${bytes} bytes, ${cached} from the cache (${((100 * cached) / bytes).toFixed(3)} %); ${missed} found nothing`,
    );
  }
  const [without, through] = rows;
  const others = without.filter(
    (each, i) => each.cached !== through[i]?.cached || each.bytes !== through[i]?.bytes,
  ).length;
  console.log(`${name}: ${others} of ${without.length} requests differ in bytes or in what the cache had`);
  if (without.length !== through.length) process.exitCode = 1;
}
