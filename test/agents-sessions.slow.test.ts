import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { bin } from './kit/build.ts';
import { type HostRequest, startHost } from './kit/host.ts';
import { closeAtEnd } from './kit/started.ts';

// What `gateway sessions` says of real agents, against the book that the host keeps of what it was asked by whom.
// AGENTS_BIN as in agents-contract.slow.test.ts.

const folders = process.env.AGENTS_BIN?.split(':') ?? [];
const work = mkdtempSync(join(tmpdir(), 'sessions-'));
writeFileSync(join(work, 'notes.txt'), 'one\ntwo\n');
const homes = join(import.meta.dirname, '..', 'node_modules', '.sessions-homes');
mkdirSync(homes, { recursive: true, mode: 0o700 });
// What an agent leaves behind may be writing still.
afterAll(() => rmSync(homes, { recursive: true, force: true, maxRetries: 10 }));

interface Sums {
  requests: number;
  input_tokens: number;
  cache_read_tokens: number;
  output_tokens: number;
}

const none = (): Sums => ({ requests: 0, input_tokens: 0, cache_read_tokens: 0, output_tokens: 0 });
/** By session, and by session and subagent. */
const book = new Map<string, Sums>();
const ofSubagents = new Map<string, Sums>();

const sessionHeaders = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-id',
  'x-session-affinity',
];

/** Enters a request with counts that no other has. */
function enter({ headers, number }: HostRequest) {
  const headerOf = (name: string) => headers.find(([header]) => header === name)?.[1];
  const session = sessionHeaders.map(headerOf).find((value) => value !== undefined) ?? '';
  const subagent = headerOf('x-claude-code-agent-id') ?? '';
  const counts = { input: 1_000 + 7 * number, cached: 300 + 3 * number, output: 10 + number };
  for (const [sums, key] of [
    [book, session],
    [ofSubagents, `${session} ${subagent}`],
  ] as const) {
    const sum = sums.get(key) ?? none();
    sum.requests += 1;
    sum.input_tokens += counts.input;
    sum.cache_read_tokens += counts.cached;
    sum.output_tokens += counts.output;
    sums.set(key, sum);
  }
  return counts;
}

type Counts = ReturnType<typeof enter>;
interface Called {
  readonly name: string;
  readonly input: object;
}

/** Rounds of an agent that goes in circles. */
const rounds = 9;

/** First the file is read, then a subagent is sent, where the agent has one, and then all is done. */
function nextCall(body: string): Called | undefined {
  const has = (name: string) => body.includes(`"name":"${name}"`);
  const results = body.split(/"tool_result"|"function_call_output"|"role":"tool"/).length - 1;
  const isCircling = body.includes('GO IN CIRCLES') && results < rounds;
  if (!body.includes('GO ON') && !isCircling) return undefined;
  if (results === 0 || isCircling) {
    if (has('Read')) return { name: 'Read', input: { file_path: join(work, 'notes.txt') } };
    if (has('exec_command')) return { name: 'exec_command', input: { cmd: 'cat notes.txt' } };
    if (has('shell_command')) return { name: 'shell_command', input: { command: 'cat notes.txt' } };
    if (has('read')) return { name: 'read', input: { filePath: join(work, 'notes.txt') } };
  }
  const subagent = ['Agent', 'Task'].find(has);
  if (results !== 1 || subagent === undefined) return undefined;
  const input = { description: 'look around', prompt: 'LOOK AROUND', subagent_type: 'general-purpose' };
  return { name: subagent, input };
}

function sendMessages(
  response: ServerResponse,
  { input, cached, output }: Counts,
  call: Called | undefined,
  number: number,
) {
  const usage = {
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
  };
  const block =
    call === undefined
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: `toolu_${number}`, name: call.name, input: {} };
  const delta =
    call === undefined
      ? { type: 'text_delta', text: 'Done.' }
      : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) };
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'house', content: [] };
  const events = [
    {
      type: 'message_start',
      message: { ...message, stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage: { output_tokens: output },
    },
    { type: 'message_stop' },
  ];
  return response.end(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  );
}

function sendResponses(
  response: ServerResponse,
  { input, cached, output }: Counts,
  call: Called | undefined,
  number: number,
) {
  const item =
    call === undefined
      ? {
          id: `msg_${number}`,
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
        }
      : {
          id: `fc_${number}`,
          type: 'function_call',
          status: 'completed',
          call_id: `call_${number}`,
          name: call.name,
          arguments: JSON.stringify(call.input),
        };
  const usage = {
    ...{ input_tokens: input, input_tokens_details: { cached_tokens: cached } },
    ...{
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
  const state = { id: `resp_${number}`, object: 'response', created_at: 1_763_000_000, model: 'house' };
  const events = [
    {
      type: 'response.created',
      sequence_number: 0,
      response: { ...state, status: 'in_progress', output: [] },
    },
    { type: 'response.output_item.done', sequence_number: 1, output_index: 0, item },
    {
      type: 'response.completed',
      sequence_number: 2,
      response: { ...state, status: 'completed', output: [item], usage },
    },
  ];
  return response.end(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  );
}

function sendChat(
  response: ServerResponse,
  { input, cached, output }: Counts,
  call: Called | undefined,
  number: number,
) {
  const chunk = {
    id: `chatcmpl-${number}`,
    object: 'chat.completion.chunk',
    created: 1_763_000_000,
    model: 'house',
  };
  const delta =
    call === undefined
      ? { content: 'Done.' }
      : {
          tool_calls: [
            {
              index: 0,
              id: `call_${number}`,
              type: 'function',
              function: { name: call.name, arguments: JSON.stringify(call.input) },
            },
          ],
        };
  const usage = {
    ...{ prompt_tokens: input, prompt_tokens_details: { cached_tokens: cached } },
    ...{ completion_tokens: output, total_tokens: input + output },
  };
  const events = [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] },
    {
      ...chunk,
      choices: [{ index: 0, delta: {}, finish_reason: call === undefined ? 'stop' : 'tool_calls' }],
    },
    { ...chunk, choices: [], usage },
  ];
  return response.end(
    [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
  );
}

const host = await startHost((response, request) => {
  const body = request.body.toString();
  // The gateway's own question for models, and Claude Code's for the length of a prompt.
  if (request.method === 'GET' || request.target.includes('count_tokens'))
    return response.end('{"input_tokens":100,"data":[]}');
  const counts = enter(request);
  const call = nextCall(body);
  response.setHeader('content-type', 'text/event-stream');
  const send = request.target.startsWith('/v1/messages')
    ? sendMessages
    : request.target.startsWith('/v1/responses')
      ? sendResponses
      : sendChat;
  return send(response, counts, call, request.number);
});

const home = mkdtempSync(join(homes, 'gateway-'));
const key = 'sessions-key-0123456789';
const boundedKey = 'bounded-key-0123456789';
const environment = { PATH: process.env.PATH, HOME: home, SESSIONS_KEY: key, BOUNDED_KEY: boundedKey };
const file = join(home, 'gateway.yaml');
writeFileSync(
  file,
  `
server: { port: 0 }
providers:
  anthropic: { dialect: anthropic, base_url: "${host.url}" }
  openai: { dialect: openai, base_url: "${host.url}/v1", forward_headers: [x-session-id] }
models:
  - { match: "claude-*", provider: anthropic }
  - { match: "*", provider: openai }
projects:
  house:
    keys:
      - { id: one, value: "\${SESSIONS_KEY}" }
      - { id: bounded, value: "\${BOUNDED_KEY}", limits: { requests_per_session: 4 } }
`,
);

/** Starts `gateway serve` in a process of its own, with a ledger. */
async function serve(): Promise<string> {
  const child = spawn(process.execPath, [bin, 'serve', '-c', file], { env: environment, stdio: 'ignore' });
  closeAtEnd(
    () =>
      new Promise<void>((resolve) => {
        child.once('exit', () => resolve());
        child.kill();
      }),
  );
  const running = join(home, '.local', 'state', 'gateway', 'running.json');
  for (let waited = 0; waited < 300 && !existsSync(running); waited += 1) await sleep(100);
  return (JSON.parse(readFileSync(running, 'utf8')) as { url: string }).url;
}
const url = folders.length === 0 ? '' : await serve();

const commands: Readonly<Record<string, readonly string[]>> = {
  claude: ['-m', 'claude-sonnet-4-5', 'claude', '-p', '--allowedTools', 'Read,Task,Agent', '--', 'GO ON'],
  codex: [
    '-m',
    'gpt-5',
    'codex',
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    'GO ON',
  ],
  opencode: ['-m', 'gpt-house', 'opencode', 'run', 'GO ON'],
};

interface Ended {
  readonly exit: unknown;
  readonly said: string;
}

function run(
  folder: string,
  line: readonly string[],
  { own = mkdtempSync(join(homes, 'home-')), as = key } = {},
): Promise<Ended> {
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: own, GATEWAY_URL: url, GATEWAY_KEY: as };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [bin, 'run', ...line],
      { cwd: work, timeout: 200_000, env },
      (error, stdout, stderr) =>
        resolve({ exit: error === null ? 0 : (error.code ?? error.signal), said: `${stdout}\n${stderr}` }),
    );
    child.stdin?.end();
  });
}

interface Turn {
  readonly subagent?: string | null;
}

function sessions(line: readonly string[] = []): Promise<unknown> {
  const argv = [bin, 'sessions', ...line, '-c', file, '-o', 'json'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, argv, { env: environment }, (error, stdout) =>
      error === null ? resolve(JSON.parse(stdout)) : reject(error),
    );
  });
}

const list = () => sessions() as Promise<readonly (Sums & Record<string, unknown>)[]>;
const show = (session: string) => sessions(['show', session]) as Promise<{ readonly turns: readonly Turn[] }>;

function raise(session: string, requests: number): Promise<void> {
  const argv = [bin, 'sessions', 'raise', session, '--requests', String(requests), '-c', file];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, argv, { env: environment }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}

const sumsOf = ({ requests, input_tokens, cache_read_tokens, output_tokens }: Sums): Sums => ({
  ...{ requests, input_tokens, cache_read_tokens, output_tokens },
});

describe.skipIf(folders.length === 0).each(folders.length === 0 ? [''] : folders)('%s', (folder) => {
  const agents = Object.keys(commands).filter((agent) => existsSync(join(folder, agent)));
  test.each(agents)(
    'two of %s at once: their sessions are apart, and add up to the token',
    { timeout: 450_000 },
    async (agent) => {
      const before = new Set(book.keys());

      const line = commands[agent] ?? [];
      const ended = await Promise.all([run(folder, line), run(folder, line)]);
      expect(ended).toMatchObject([{ exit: 0 }, { exit: 0 }]);

      const own = [...book].filter(([session]) => !before.has(session));
      expect(own).toHaveLength(2);
      const listed = async () =>
        new Map((await list()).map((each) => [String(each.session), { agent: each.agent, ...sumsOf(each) }]));
      for (const [session, sums] of own) {
        await expect
          .poll(async () => (await listed()).get(session), { timeout: 20_000 })
          .toEqual({ agent, ...sums });
        expect(sums.requests).toBeGreaterThan(1);
      }
      if (agent !== 'claude') return;
      for (const [session] of own) {
        const { turns } = await show(session);
        const subagents = new Map<string, number>();
        for (const { subagent } of turns)
          subagents.set(String(subagent ?? ''), (subagents.get(String(subagent ?? '')) ?? 0) + 1);
        const expected = [...ofSubagents].filter(([name]) => name.startsWith(`${session} `));
        expect(subagents).toEqual(
          new Map(expected.map(([name, { requests }]) => [name.slice(session.length + 1), requests])),
        );
        expect(subagents.size).toBe(2);
      }
    },
  );

  test.runIf(agents.includes('claude'))(
    'one that goes in circles stops at its budget, says so on its screen, and goes on once that is raised',
    { timeout: 450_000 },
    async () => {
      const before = new Set(book.keys());
      const own = mkdtempSync(join(homes, 'home-'));
      const line = ['-m', 'claude-sonnet-4-5', 'claude', '-p', '--allowedTools', 'Read'];

      const stopped = await run(folder, [...line, '--', 'GO IN CIRCLES'], { own, as: boundedKey });

      const [session = ''] = [...book.keys()].filter((each) => !before.has(each));
      expect(stopped.exit).not.toBe(0);
      expect(stopped.said).toContain(`gateway sessions raise ${session.slice(0, 8)}`);
      expect(book.get(session)?.requests).toBe(4);
      await raise(session, 20);
      const goesOn = await run(folder, [...line, '--resume', session, '--', 'go on'], {
        own,
        as: boundedKey,
      });
      expect(goesOn).toMatchObject({ exit: 0 });
      expect(book.get(session)?.requests).toBeGreaterThan(rounds);
    },
  );
});
