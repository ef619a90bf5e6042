#!/usr/bin/env node
// What prompt caches serve of an agent's work at a host of another dialect.
//   npm run build && AGENTS_BIN=FOLDER node bench/translated-caches.mjs [--sessions 4] [--turns 12]
// FOLDER has the real `claude` and `codex`. Each session is a conversation of its own, in which a scripted host asks for a
// tool in each turn but the last. Codex works at Claude, whose cache keeps what breakpoints say; Claude Code at a host that
// caches by equal beginnings, and once more without the gateway, where the first line of its system prompt stays.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messagesCache, prefixCache } from './prompt-caches.mjs';

const { values } = parseArgs({
  options: { sessions: { type: 'string', default: '4' }, turns: { type: 'string', default: '12' } },
});
const sessions = Number(values.sessions);
const turns = Number(values.turns);
const bin = process.env.AGENTS_BIN;
if (bin === undefined) throw new Error('AGENTS_BIN is not set');
const gateway = join(import.meta.dirname, '..', 'bin', 'gateway.js');

const asMessages = ({ id, call }) => [
  {
    type: 'message_start',
    message: {
      ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model: 'm', content: [] },
      ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 4, output_tokens: 1 } },
    },
  },
  {
    type: 'content_block_start',
    index: 0,
    content_block:
      call === undefined
        ? { type: 'text', text: '' }
        : { type: 'tool_use', id: `toolu_${id}`, name: call[0], input: {} },
  },
  {
    type: 'content_block_delta',
    index: 0,
    delta:
      call === undefined
        ? { type: 'text_delta', text: 'Done.' }
        : { type: 'input_json_delta', partial_json: JSON.stringify(call[1]) },
  },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
    usage: { output_tokens: 30 },
  },
  { type: 'message_stop' },
];
const asChat = ({ id, call }) => {
  const tool_calls = [{ index: 0, id: `call_${id}`, type: 'function' }];
  const delta =
    call === undefined
      ? { content: 'Done.' }
      : {
          tool_calls: [{ ...tool_calls[0], function: { name: call[0], arguments: JSON.stringify(call[1]) } }],
        };
  const finish_reason = call === undefined ? 'stop' : 'tool_calls';
  const head = { id, object: 'chat.completion.chunk', created: 1, model: 'm' };
  return [
    { ...head, choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason }] },
    { ...head, choices: [], usage: { prompt_tokens: 4, completion_tokens: 30, total_tokens: 34 } },
  ];
};

// Their file, another line each time.
const codexAsks = (i) => [
  'exec',
  { input: `text((await tools.exec_command({ cmd: "sed -n ${1 + (i % 400)}p notes.txt" })).output)` },
];
const claudeAsks = (i) => ['Read', { file_path: 'notes.txt', offset: 1 + (i % 400), limit: 1 }];
const codexWords = [
  ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
  'Read the notes.',
];
const claudeWords = ['-p', '--allowedTools', 'Read', '--', 'Read the notes.'];
const joined = (...parts) => parts.map((part) => JSON.stringify(part)).join('\n');

const atClaude = (more) => ({
  ...{ agent: 'codex', words: codexWords, ask: codexAsks, events: asMessages, cache: messagesCache },
  config: (url) =>
    `providers: { own: { dialect: anthropic, base_url: "${url}", api_key: a-key-of-the-host } }\n` +
    `models: [{ match: "*", provider: own, model: claude-opus-5${more} }]\n`,
});
const cases = {
  'Codex at Claude': atClaude(''),
  'Codex at Claude, prompt_cache: off': atClaude(', prompt_cache: "off"'),
  'Claude Code at DeepSeek': {
    ...{ agent: 'claude', words: claudeWords, ask: claudeAsks, events: asChat },
    cache: () => prefixCache(({ tools, messages: [system, ...rest] }) => joined(system, tools, ...rest)),
    config: (url) =>
      `providers: { own: { dialect: openai, host: deepseek, base_url: "${url}/v1", api_key: a-key-of-the-host, endpoints: [chat] } }\n` +
      'models: [{ match: "*", provider: own, model: deepseek-v4-pro }]\n',
  },
  'Claude Code at the same cache without the gateway': {
    ...{ agent: 'claude', words: claudeWords, ask: claudeAsks, events: asMessages },
    cache: () => prefixCache(({ system, tools, messages }) => joined(system, tools, ...messages)),
  },
};

/** Asks for a tool in each turn of a session but the last, and keeps account. */
async function startProvider({ cache, ask, events }) {
  const account = cache();
  const counted = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method !== 'POST' || request.url.includes('count_tokens'))
      return response.writeHead(404).end('{}');
    const body = JSON.parse(Buffer.concat(chunks));
    const isWork = body.tools?.length > 0;
    if (isWork) counted.push(account({ headers: request.headers, target: request.url, body }));
    const turn = counted.length - 1;
    const isLast = !isWork || (turn + 1) % turns === 0;
    const content = { id: String(turn).padStart(6, '0'), call: isLast ? undefined : ask(turn) };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const each of events(content)) {
      const name = each.type === undefined ? '' : `event: ${each.type}\n`;
      response.write(`${name}data: ${JSON.stringify(each)}\n\n`);
    }
    return response.end(events === asChat ? 'data: [DONE]\n\n' : '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => new Promise((resolve) => server.close(resolve) && server.closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}`, counted, stop };
}

async function work({ agent, words, config, ...host }) {
  const provider = await startProvider(host);
  const home = mkdtempSync(join(tmpdir(), 'agent-'));
  mkdirSync(join(home, '.codex'));
  const notes = Array.from({ length: 400 }, (_, i) => `note ${i}: ${'lily '.repeat(20)}`);
  writeFileSync(join(home, 'notes.txt'), notes.join('\n'));
  if (config !== undefined) writeFileSync(join(home, 'gateway.yaml'), config(provider.url), { mode: 0o600 });
  const through = [process.execPath, gateway, '-c', 'gateway.yaml', 'run', agent, ...words];
  const direct = { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_AUTH_TOKEN: 'a-key-of-the-host' };
  for (let session = 0; session < sessions; session += 1) {
    if (config === undefined) await run([join(bin, agent), ...words], home, direct);
    else await run(through, home, {});
  }
  await provider.stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  return provider.counted;
}

function run([program, ...words], home, env) {
  const own = {
    ...{ PATH: `${bin}:${process.env.PATH}`, HOME: home, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    ...{ HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' },
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

for (const [name, each] of Object.entries(cases)) {
  const counted = await work(each);
  const sum = (of) => counted.reduce((total, one) => total + of(one), 0);
  const [bytes, repeated, cached] = [
    sum((one) => one.bytes),
    sum((one) => one.repeated),
    sum((one) => one.cached),
  ];
  const begun = counted.filter((_, i) => i > 0 && i % turns === 0);
  const found = begun.reduce((total, one) => total + one.cached / one.bytes, 0) / Math.max(1, begun.length);
  console.log(
    `${name}: ${counted.length} requests in ${sessions} conversations, ${bytes} bytes, ${repeated} of them sent before, ` +
      `${cached} from the cache: ${((100 * cached) / bytes).toFixed(1)} % of all, ` +
      `${((100 * cached) / repeated).toFixed(1)} % of what was sent before; ` +
      `${(100 * found).toFixed(1)} % of the first request of a conversation`,
  );
}
