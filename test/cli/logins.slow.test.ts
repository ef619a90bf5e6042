import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { messagesAnswer, messagesEvents, responsesEvents } from '../kit/answers.ts';
import { startProgram } from '../kit/child.ts';
import { homeWith } from '../kit/command.ts';
import { type HostRequest, type Script, startHost } from '../kit/host.ts';

// The real Claude Code and Codex with scripted logins, at a scripted host: what they do with their own files. All else
// is in test/gateway/client-login. They are no dependency: AGENTS_BIN is a directory with `claude` and `codex`, such as
// node_modules/.bin after npm install @anthropic-ai/claude-code @openai/codex.
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
    provider: (url: string) => `{ dialect: anthropic, base_url: "${url}", credentials: client }`,
    argv: ['claude', '-p', 'say hello'],
    events: messagesEvents,
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
      `{ dialect: openai, base_url: "${url}/backend-api/codex", endpoints: [responses], credentials: client }`,
    argv: ['codex', 'exec', '--skip-git-repo-check', 'say hello'],
    events: [
      ...responsesEvents.slice(0, 1),
      `event: response.output_item.done\ndata: {"type":"response.output_item.done","sequence_number":1,"output_index":0,"item":{"type":"message","id":"m_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Grüße 👋 東京","annotations":[]}]}}\n\n`,
      ...responsesEvents.slice(2),
    ],
  },
} as const;

const answered = (agent: (typeof agents)[keyof typeof agents]): Script => {
  return (response, { target, body }) => {
    if (!target.startsWith(agent.path)) return response.writeHead(404).end();
    if (!/"stream":\s*true/.test(body.toString())) {
      return response.writeHead(200, { 'content-type': 'application/json' }).end(messagesAnswer);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of agent.events) response.write(event);
    return response.end();
  };
};

const loginOf = ({ headers }: HostRequest) => headers.find(([name]) => name === 'authorization')?.[1];

describe.skipIf(bin === undefined).each(['claude', 'codex'] as const)('%s', (name) => {
  const agent = agents[name];
  const [marked, renewed] = [agent.token('MARKED'), agent.token('RENEWED')];

  /** Runs it with the first login at a host; `renew` puts the other one into its file. */
  async function run(script: (renew: () => void) => Script) {
    const refused = await startHost((response) => response.writeHead(502).end());
    const renew = () => writeFileSync(join(home, agent.file), JSON.stringify(agent.content(renewed)));
    const host = await startHost((...exchange) => script(renew)(...exchange));
    const home = homeWith({
      [agent.file]: agent.content(marked),
      'gateway.yaml': `providers: { own: ${agent.provider(host.url)} }
models: [{ match: "*", provider: own }]
`,
    });
    const env = { PATH: `${bin}:${process.env.PATH}`, HTTPS_PROXY: refused.url };
    const child = startProgram(['run', ...agent.argv], home, env);
    child.process.stdin?.end();
    const { exit, stdout, stderr } = await child.ended;
    const state = join(home, '.local/state/gateway');
    const written = readdirSync(state, { recursive: true, encoding: 'utf8' })
      .map((file) => join(state, file))
      .filter((file) => statSync(file).isFile())
      .map((file) => readFileSync(file, 'latin1'));
    // Nothing of the gateway has a login, also not half of it.
    for (const token of [marked, renewed]) {
      expect(stdout + stderr + written.join('')).not.toContain(token.slice(20, 60));
    }
    const records = readFileSync(join(state, 'records.jsonl'), 'utf8').trim().split('\n');
    return {
      ended: [exit, stdout + stderr],
      requests: host.requests.filter(({ target }) => target.startsWith(agent.path)),
      records: records.map((line) => JSON.parse(line)).filter(({ method }) => method === 'POST'),
    };
  }

  test('is answered; its bytes and its login arrive as they left', async () => {
    const { ended, requests, records } = await run(() => answered(agent));

    expect(ended).toEqual([0, expect.stringContaining('Grüße 👋 東京')]);
    expect(requests.map(loginOf)).toEqual(requests.map(() => `Bearer ${marked}`));
    expect(records).toMatchObject(
      requests.map(({ body }) => ({ provider: 'own', body: 'exact', bytes_in: body.length, status: 200 })),
    );
  });

  test('gets the 401, and goes on with the login that was renewed meanwhile', async () => {
    const { ended, requests, records } = await run((renew) => (response, request) => {
      if (loginOf(request) !== `Bearer ${marked}`) return answered(agent)(response, request);
      renew();
      response.writeHead(401, { 'content-type': 'application/json' });
      return response.end('{"type":"error","error":{"type":"authentication_error","message":"expired"}}');
    });

    expect(ended).toEqual([0, expect.stringContaining('Grüße 👋 東京')]);
    expect(requests.map(loginOf).at(-1)).toBe(`Bearer ${renewed}`);
    expect(records.map(({ status }) => status)).toContain(401);
  });
});
