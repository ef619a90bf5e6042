import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { messagesAnswer, messagesEvents, responsesEvents } from '../kit/answers.ts';
import { startProgram } from '../kit/child.ts';
import { emptyDirectory } from '../kit/command.ts';
import { type HostRequest, type Script, type ScriptedHost, startHost } from '../kit/host.ts';

// The real Claude Code and Codex with scripted logins, at scripted hosts. They are no dependency: AGENTS_BIN is a
// directory with `claude` and `codex`, such as node_modules/.bin after npm install @anthropic-ai/claude-code @openai/codex.
const bin = process.env.AGENTS_BIN;

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A ChatGPT access token: its claims say whose it is and until when. */
function webToken(mark: string): string {
  const account = { chatgpt_account_id: 'acc-1', chatgpt_plan_type: 'plus', chatgpt_user_id: 'user-1' };
  const claims = { exp: 4_000_000_000, email: 'a@example.com', 'https://api.openai.com/auth': account };
  return `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ ...claims, mark })}.${Buffer.from(mark.repeat(20)).toString('base64url')}`;
}

const agents = {
  claude: {
    file: '.claude/.credentials.json',
    token: (mark: string) => `sk-ant-oat01-${mark}-${'a1'.repeat(40)}`,
    content: (token: string) => ({
      claudeAiOauth: {
        accessToken: token,
        refreshToken: `${token.replace('oat', 'ort')}r`,
        expiresAt: 4_000_000_000_000,
        scopes: ['user:inference', 'user:profile'],
        subscriptionType: 'max',
      },
    }),
    path: '/v1/messages',
    provider: (url: string) => `{ dialect: anthropic, base_url: "${url}", WHOSE }`,
    argv: (prompt: string) => ['claude', '-p', prompt],
    events: messagesEvents,
    said: 'Grüße 👋 東京',
  },
  codex: {
    file: '.codex/auth.json',
    token: webToken,
    content: (token: string) => ({
      auth_mode: 'chatgpt',
      OPENAI_API_KEY: null,
      tokens: {
        id_token: token,
        access_token: token,
        refresh_token: `rt_${token.slice(-40)}`,
        account_id: 'acc-1',
      },
      last_refresh: new Date().toISOString(),
    }),
    path: '/backend-api/codex/responses',
    provider: (url: string) =>
      `{ dialect: openai, base_url: "${url}/backend-api/codex", endpoints: [responses], WHOSE }`,
    argv: (prompt: string) => ['codex', 'exec', '--skip-git-repo-check', prompt],
    events: [
      ...responsesEvents.slice(0, 1),
      `event: response.output_item.done\ndata: {"type":"response.output_item.done","sequence_number":1,"output_index":0,"item":{"type":"message","id":"m_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Grüße 👋 東京","annotations":[]}]}}\n\n`,
      ...responsesEvents.slice(2),
    ],
    said: 'Grüße 👋 東京',
  },
} as const;

type Agent = (typeof agents)[keyof typeof agents];

let own: ScriptedHost;
let keyed: ScriptedHost;
/** In the place of everything else on the internet: refuses. */
let elsewhere: ReturnType<typeof createServer>;

beforeAll(async () => {
  own = await startHost(() => undefined);
  keyed = await startHost(() => undefined);
  elsewhere = createServer((_request, response) => response.writeHead(502).end());
  elsewhere.on('connect', (_request, socket) => {
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await Promise.all([own.close(), keyed.close()]);
  elsewhere.closeAllConnections();
  await new Promise((resolve) => elsewhere.close(resolve));
});

const answered = (agent: Agent, type: object = { 'content-type': 'text/event-stream' }): Script => {
  return (response, { target, body }) => {
    if (!target.startsWith(agent.path)) return response.writeHead(404).end();
    // Claude Code repeats what was cut without a stream.
    if (!/"stream":\s*true/.test(body.toString())) {
      return response.writeHead(200, { 'content-type': 'application/json' }).end(messagesAnswer);
    }
    response.writeHead(200, { ...type });
    for (const event of agent.events) response.write(event);
    return response.end();
  };
};

interface Run {
  readonly exit: number | null;
  readonly output: string;
  /** Model requests at the host that takes the login, and at the one with a key. */
  readonly own: readonly HostRequest[];
  readonly keyed: readonly HostRequest[];
  readonly records: readonly Readonly<Record<string, unknown>>[];
  /** Files of the gateway that contain one of the tokens. */
  readonly holders: readonly string[];
}

async function run(
  agent: Agent,
  { prompt = 'say hello', marks = ['MARKED'], home = emptyDirectory() } = {},
): Promise<Run> {
  const tokens = marks.map(agent.token);
  writeLogin(agent, home, tokens[0] as string);
  const pattern = agent === agents.claude ? 'claude-*' : 'gpt-*';
  writeFileSync(
    join(home, 'gateway.yaml'),
    `
providers:
  own: ${agent.provider(own.url).replace('WHOSE', 'credentials: client')}
  keyed: ${agent.provider(keyed.url).replace('WHOSE', `api_key: "\${KEYED}"`)}
models: [{ match: "${pattern}", provider: own, fallbacks: [{ provider: keyed }] }]
policies: { house: { apply: all, rules: [{ id: p, action: block, when: { text: { phrases: [nightfall] } }, reason: content.phrase }] } }
`,
    { mode: 0o600 },
  );
  const before = [own.requests.length, keyed.requests.length];
  const proxy = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  const child = startProgram(['run', ...agent.argv(prompt)], home, {
    PATH: `${bin}:${process.env.PATH}`,
    KEYED: 'sk-keyed-0123456789abcdef',
    HTTPS_PROXY: proxy,
  });
  child.process.stdin?.end();
  const { exit, stdout, stderr } = await child.ended;
  const state = join(home, '.local/state/gateway');
  const models = (requests: readonly HostRequest[]) =>
    requests.filter(({ target }) => target.startsWith(agent.path));
  return {
    exit,
    output: stdout + stderr,
    own: models(own.requests.slice(before[0])),
    keyed: models(keyed.requests.slice(before[1])),
    records: readFileSync(join(state, 'records.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ method }) => method === 'POST'),
    holders: filesIn(state).filter((file) => {
      const text = readFileSync(file, 'latin1');
      return tokens.some((token) => text.includes(token) || text.includes(token.slice(20, 60)));
    }),
  };
}

function writeLogin(agent: Agent, home: string, token: string): void {
  mkdirSync(join(home, agent.file, '..'), { recursive: true });
  writeFileSync(join(home, agent.file), JSON.stringify(agent.content(token)), { mode: 0o600 });
}

function filesIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile());
}

const loginOf = ({ headers }: HostRequest) => headers.find(([name]) => name === 'authorization')?.[1];

describe.skipIf(bin === undefined).each(['claude', 'codex'] as const)('%s', (name) => {
  const agent = agents[name];
  const bearer = `Bearer ${agent.token('MARKED')}`;
  const clean = (run: Run) => {
    expect(run.holders).toEqual([]);
    expect(run.output).not.toContain(agent.token('MARKED').slice(20, 60));
    expect(JSON.stringify(run.keyed)).not.toContain(agent.token('MARKED').slice(20, 60));
  };

  test('is answered; its bytes and its login arrive as they left', async () => {
    own.script(answered(agent));

    const result = await run(agent);

    expect([result.exit, result.output]).toEqual([0, expect.stringContaining(agent.said)]);
    expect(result.own.map(loginOf)).toEqual(result.own.map(() => bearer));
    expect(result.records).toMatchObject(
      result.own.map(({ body }) => ({ provider: 'own', body: 'exact', bytes_in: body.length, status: 200 })),
    );
    expect(result.keyed).toEqual([]);
    clean(result);
  });

  test('is answered by a stream without a content-type', async () => {
    own.script(answered(agent, {}));

    const result = await run(agent);

    expect([result.exit, result.output]).toEqual([0, expect.stringContaining(agent.said)]);
    clean(result);
  });

  test('is blocked by a policy: nothing leaves', async () => {
    own.script(answered(agent));

    const result = await run(agent, { prompt: 'project nightfall' });

    expect(result.exit).not.toBe(0);
    expect([result.own, result.keyed]).toEqual([[], []]);
    clean(result);
  });

  test('is cut in the middle of a stream, and may ask again', async () => {
    let cuts = 0;
    own.script((response, request) => {
      if (!request.target.startsWith(agent.path)) return response.writeHead(404).end();
      cuts += 1;
      if (cuts > 1) return answered(agent)(response, request);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.write(agent.events[0], () => response.destroy());
    });

    const result = await run(agent);

    expect(result.records).toMatchObject([{ outcome: 'failed' }, ...result.own.slice(1).map(() => ({}))]);
    expect(result.own.map(loginOf)).toEqual(result.own.map(() => bearer));
    expect(result.keyed).toEqual([]);
    clean(result);
  });

  test('gets the 401, and goes on with the login that was renewed meanwhile', async () => {
    const home = emptyDirectory();
    own.script((response, request) => {
      if (loginOf(request) === bearer) {
        writeLogin(agent, home, agent.token('RENEWED'));
        response.writeHead(401, { 'content-type': 'application/json' });
        return response.end('{"type":"error","error":{"type":"authentication_error","message":"expired"}}');
      }
      return answered(agent)(response, request);
    });

    const result = await run(agent, { home, marks: ['MARKED', 'RENEWED'] });

    expect([result.exit, result.output]).toEqual([0, expect.stringContaining(agent.said)]);
    expect(result.own.map(loginOf).at(-1)).toBe(`Bearer ${agent.token('RENEWED')}`);
    expect(result.records.map(({ status }) => status)).toContain(401);
    clean(result);
  });

  test('falls back to a provider with a key, which does not get the login', async () => {
    own.script((response) => response.writeHead(500, { 'content-type': 'application/json' }).end('{}'));
    keyed.script(answered(agent));

    const result = await run(agent);

    expect([result.exit, result.output]).toEqual([0, expect.stringContaining(agent.said)]);
    expect(result.keyed.length).toBeGreaterThan(0);
    expect(JSON.stringify(result.keyed)).toContain('sk-keyed-0123456789abcdef');
    clean(result);
  });
});
