import { describe, expect, test } from 'vitest';
import { readSender, type Sender, withBody } from '../../src/gateway/sender.ts';
import { parseStrictJson } from '../../src/json/strict-json.ts';
import { detectorNames } from '../../src/policy/detectors/names.ts';
import { json, messagesAnswer } from '../kit/answers.ts';
import { post, projects, secrets, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';

type Headers = Readonly<Record<string, string>>;

const senderOf = (headers: Headers) =>
  readSender({ header: (name) => headers[name], rawHeaders: Object.entries(headers).flat() });
const bodySender = (body: object, dialectName: 'messages' | 'responses' | 'chat', sender: Sender = {}) =>
  withBody(sender, parseStrictJson(Buffer.from(JSON.stringify(body))), { dialectName });

const claude = { 'user-agent': 'claude-cli/2.1.330 (external, cli)' };
const codex = { originator: 'codex_exec' };

describe('the head', () => {
  test.each<[string, Headers, Sender]>([
    ['nobody', { 'user-agent': 'OpenAI/JS 6.1.0' }, {}],
    ['any program', { 'x-gateway-session': 'nightly-7' }, { session: 'nightly-7' }],
    [
      "Claude Code's main agent",
      { ...claude, 'x-claude-code-session-id': 's1', 'x-claude-code-request-class': 'main' },
      { agent: 'claude', session: 's1', request_class: 'main' },
    ],
    [
      'a subagent of Claude Code',
      {
        ...claude,
        'x-claude-code-session-id': 's1',
        'x-claude-code-agent-id': 'review@team',
        'x-claude-code-parent-agent-id': 'a1',
        'x-claude-code-request-class': 'subagent',
        'x-claude-code-prompt-id': 'p1',
      },
      {
        ...{ agent: 'claude', session: 's1', subagent: 'review@team', parent: 'a1' },
        ...{ request_class: 'subagent', prompt: 'p1' },
      },
    ],
    [
      "Codex's main thread",
      { ...codex, 'session-id': 's2', 'thread-id': 's2' },
      { agent: 'codex', session: 's2' },
    ],
    [
      'a thread that another one started',
      {
        ...codex,
        'session-id': 's2',
        'thread-id': 't3',
        'x-codex-parent-thread-id': 's2',
        'x-openai-subagent': 'review',
      },
      { agent: 'codex', session: 's2', subagent: 't3', parent: 's2', request_class: 'review' },
    ],
    [
      'an older Codex',
      { ...codex, session_id: 's3', conversation_id: 'c3' },
      { agent: 'codex', session: 's3' },
    ],
    ['Codex before that', { ...codex, conversation_id: 'c3' }, { agent: 'codex', session: 'c3' }],
    [
      'opencode',
      {
        'user-agent': 'opencode/1.18.33',
        'x-session-id': 'ses_1',
        'x-session-affinity': 'ses_1',
        'x-parent-session-id': 'ses_0',
      },
      { agent: 'opencode', session: 'ses_1', parent: 'ses_0' },
    ],
    ['Gemini CLI', { 'user-agent': 'GeminiCLI/0.61.0/gemini-2.5-pro (linux; x64)' }, { agent: 'gemini' }],
    ['Qwen Code', { 'user-agent': 'QwenCode/0.24.4 (linux; x64)' }, { agent: 'qwen' }],
    ['Copilot CLI', { 'x-interaction-type': 'conversation-agent' }, { agent: 'copilot' }],
    [
      'who names its own session beside that of an agent',
      { ...claude, 'x-claude-code-session-id': 's1', 'x-gateway-session': 'mine' },
      { agent: 'claude', session: 'mine' },
    ],
  ])('%s', (_name, headers, expected) => {
    expect(senderOf(headers)).toEqual(expected);
  });

  test.each([
    ['nothing', ''],
    ['129 characters', 'x'.repeat(129)],
    ['10 KB', 'x'.repeat(10_240)],
    ['a tab', 'a\tb'],
    ['another alphabet', 'se\u00dfion'],
    ['two of one name', 'one, two'],
    ['markup', '<b>'],
    ['a project key', 'gw_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
  ])('an id with %s is ignored, and the next one is read', (_name, id) => {
    const [after, alone] = [{ 'session-id': 'whole' }, {}].map((more) =>
      senderOf({ 'x-gateway-session': id, ...more }),
    );

    expect(after).toEqual({ session: 'whole' });
    expect(alone).toEqual({});
  });

  test('128 characters are read', () => {
    expect(senderOf({ 'x-gateway-session': 'x'.repeat(128) }).session).toHaveLength(128);
  });
});

describe('the body, where the head names no session', () => {
  const user = (id: unknown) => ({ metadata: { user_id: id } });

  test.each([
    ['the user of Claude Code', user('user_0a_account__session_7f-1'), '7f-1'],
    ['the same as JSON', user('{"device_id":"d","account_uuid":"","session_id":"7f-2"}'), '7f-2'],
    ['another user', user('alice'), undefined],
    ['a user that is no text', user(7), undefined],
    ['JSON that is cut', user('{"session_id":"7f'), undefined],
    ['a session that is no text', user('{"session_id":{"a":1}}'), undefined],
    ['a session with a control character', user('{"session_id":"a\\u0000b"}'), undefined],
    ['a user of 10 KB', user(`{"session_id":"7f","x":"${'x'.repeat(10_240)}"}`), undefined],
    ['metadata that is a list', { metadata: ['user_id'] }, undefined],
    ['none', {}, undefined],
  ])('%s', (_name, body, session) => {
    expect(bodySender(body, 'messages').session).toBe(session);
  });

  test("the key of a prompt cache is Codex's session, and nobody else's", () => {
    const body = { prompt_cache_key: 'k1' };

    expect(bodySender(body, 'responses', { agent: 'codex' })).toEqual({ agent: 'codex', session: 'k1' });
    expect(bodySender(body, 'responses')).toEqual({});
  });

  test('the head goes before', () => {
    expect(bodySender(user('user_0a_account__session_7f'), 'messages', { session: 's' })).toEqual({
      session: 's',
    });
  });
});

describe('the record', async () => {
  const host = await startHost(json(messagesAnswer));
  const gateway = await startGateway(`
providers:
  host: { dialect: anthropic, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}" }
  own: { dialect: anthropic, base_url: "${host.url}", credentials: client }
models: [{ match: m, provider: host }, { match: own, provider: own }]
policies:
  house:
    apply: all
    rules:
      - { id: found, action: redact, when: { text: { detect: [${detectorNames.join(', ')}] } } }
      - { id: codename, action: block, when: { text: { phrases: [nightfall] } }, reason: content.codename }
${projects}`);
  const ask = async (
    headers: Headers,
    {
      key = gateway.key,
      text = 'hi',
      ...more
    }: { key?: string; text?: string; model?: string; metadata?: object } = {},
  ) => {
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: text }], ...more };
    const answer = await post({ url: gateway.url, key }, '/v1/messages', body, { headers });
    const id = answer.headers.get('x-request-id');
    await answer.arrayBuffer();
    return gateway.recordWhere(({ request_id }) => request_id === id);
  };

  test('has who sent an answered and a refused request, from head or body', async () => {
    const session = { 'x-claude-code-session-id': 's1', 'x-claude-code-agent-id': 'a1', ...claude };

    const answered = await ask(session);
    const refused = await ask(session, { text: 'nightfall' });
    const unrouted = await ask({}, { model: 'none', metadata: { user_id: 'user_0a_account__session_7f' } });

    const expected = { agent: 'claude', session: 's1', subagent: 'a1' };
    expect(answered).toMatchObject({ outcome: 'answered', ...expected });
    expect(refused).toMatchObject({ outcome: 'refused', ...expected });
    expect(unrouted).toMatchObject({ outcome: 'refused', session: '7f' });
  });

  test('has the session of a body so large that another thread reads it', async () => {
    const metadata = { user_id: 'user_0a_account__session_7f' };

    expect(await ask({}, { text: 'hello '.repeat(60_000), metadata })).toMatchObject({ session: '7f' });
  });

  test.each([
    '7143c744-8fbc-42fd-8082-1ad09b9f1678',
    '01a224b7-e410-7380-9fe9-2f3fe31b90f2',
    'ses_ddb47e066ffeWtSYruw97rk119',
    '9f86d081884c7d659a2feaa0c55ad015',
  ])('has the session %s, as agents name theirs, whatever detectors look for', async (session) => {
    expect(await ask({ 'x-gateway-session': session })).toMatchObject({ session, decision: 'allow' });
  });

  test('has no session whose name contains a secret, a login, a project key or what a rule looks for', async () => {
    const login = `sk-ant-oat01-${'aB3_-'.repeat(8)}`;
    const hidden: readonly [Headers, { key?: string; model?: string }?][] = [
      [{ 'x-gateway-session': secrets.PROVIDER_KEY }],
      [{ 'x-gateway-session': `x-${secrets.PROVIDER_KEY}-y` }],
      [{ 'x-gateway-session': secrets.PROJECT_KEY }],
      [{ 'x-gateway-session': 'project-nightfall' }],
      [{ 'x-gateway-session': 'jo@example.org' }],
      [{ 'x-gateway-session': Buffer.from('project nightfall').toString('base64') }],
      [
        {
          'x-gateway-session': login,
          'x-gateway-key': secrets.PROJECT_KEY,
          authorization: `Bearer ${login}`,
        },
        { model: 'own' },
      ],
    ];

    for (const [headers, more] of hidden) {
      const record = await ask(headers, more);
      expect(record, JSON.stringify(headers)).not.toHaveProperty('session', expect.anything());
      expect(JSON.stringify(record)).not.toContain(Object.values(headers)[0]);
    }
  });

  test('names sessions of two keys by the key', async () => {
    const [one, other] = [
      await ask({ 'x-gateway-session': 's' }),
      await ask({ 'x-gateway-session': 's' }, { key: secrets.OTHER_KEY }),
    ];

    expect([one, other]).toMatchObject([
      { session: 's', key: 'shop-web' },
      { session: 's', key: 'other-web' },
    ]);
  });

  test('the id that only the gateway reads does not reach the provider', async () => {
    await ask({ 'x-gateway-session': 'mine', 'x-claude-code-session-id': 's1' });

    const names = host.requests.at(-1)?.headers.map(([name]) => name);
    expect(names).toContain('x-claude-code-session-id');
    expect(names).not.toContain('x-gateway-session');
  });
});

test.each(['warn', 'block'])(
  'a session that a rule (%s, monitored) objects to has its limits all the same',
  async (action) => {
    const limited = await startGateway(`
server: { port: 0 }
policies:
  p:
    apply: all
    rules: [{ id: mail, action: ${action}, mode: monitor, when: { text: { detect: [email] } } }]
projects:
  shop:
    limits: { requests_per_session: 1 }
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`);
    const ask = async (session: string) => {
      const body = { model: 'sandbox-mini', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
      const headers = { 'x-gateway-session': session };
      const answer = await post({ url: limited.url, key: secrets.PROJECT_KEY }, '/v1/messages', body, {
        headers,
      });
      return { status: answer.status, text: await answer.text() };
    };

    const statuses = [await ask('jo@example.org'), await ask('jo@example.org'), await ask('al@example.org')];

    expect(statuses.map(({ status }) => status)).toEqual([200, 429, 200]);
    expect(statuses[1]?.text).not.toContain('jo@example.org');
  },
);
