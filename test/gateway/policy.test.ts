import Anthropic from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { dialectCases, requestFor, speakAll } from '../kit/answers.ts';
import { anthropicClient, openaiClient, post, startGateway, type TestGateway } from '../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../kit/host.ts';

const policies = `
policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, when: { text: { phrases: ["project nightfall"], match: folded } }, reason: content.codename }
      - { id: no-shell, action: block, when: { tools: [shell] }, reason: tools.not_allowed, message: "No shell here." }
      - { id: short, action: block, when: { max_output_tokens: { over: 1000, absent: allow } }, reason: limits.max_output_tokens }
      - { id: tickets, action: warn, when: { text: { regex: ['\\bTCK-[0-9]{6}\\b'] } }, reason: content.ticket }
      - { id: mails, action: redact, when: { text: { detect: [email] } }, reason: content.email }
      - { id: dry, action: block, mode: monitor, when: { text: { phrases: ["dry run"] } }, reason: content.dry }
projects:
  shop:
    models: ["gpt-*", "claude-*"]
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`;

let host: ScriptedHost | undefined;
let running: TestGateway | undefined;

beforeAll(async () => {
  host = await startHost(speakAll);
  running = await startGateway(`
providers:
  claude: { dialect: anthropic, base_url: "${host.url}" }
  gpt: { dialect: openai, base_url: "${host.url}/v1" }
models:
  - { match: "gpt-*", provider: gpt }
  - { match: "claude-*", provider: claude }
  - { match: secret-model, provider: gpt }
${policies}`);
});

function setting(): { host: ScriptedHost; gateway: TestGateway } {
  if (host === undefined || running === undefined) throw new Error('not started');
  return { host, gateway: running };
}

describe.each(dialectCases)('$dialect', ({ dialect, path, model }) => {
  const saying = (content: string) =>
    dialect === 'responses' ? { input: content } : { messages: [{ role: 'user', content }] };

  test.each([
    ['a phrase', saying('about Project  NIGHTFALL'), 'content.codename'],
    [
      'a tool',
      { tools: [{ name: 'shell', type: 'function', function: { name: 'shell' } }] },
      'tools.not_allowed',
    ],
    [
      'a cap',
      { [dialect === 'responses' ? 'max_output_tokens' : 'max_tokens']: 1001 },
      'limits.max_output_tokens',
    ],
    ['a model', { model: 'secret-model' }, 'model.not_allowed'],
  ])(
    '%s that a rule blocks is 403 with its reason, before the provider hears of it',
    async (_name, extra, reason) => {
      const { host, gateway } = setting();
      const before = host.requests.length;

      const answer = await post(gateway, path, requestFor(dialect, model, extra));

      const { error } = JSON.parse(await answer.text());
      expect(answer.status).toBe(403);
      expect(error).toMatchObject({ type: 'permission_error', reason, code: reason });
      expect(error.message.toLowerCase()).not.toContain('nightfall');
      expect(answer.headers.get('x-should-retry')).toBe('false');
      expect(answer.headers.get('x-gateway-error')).toBe('true');
      expect(host.requests.length).toBe(before);
    },
  );

  test('a request with a warning is forwarded, with a header', async () => {
    const { gateway } = setting();

    const answer = await post(gateway, path, requestFor(dialect, model, saying('see TCK-123456')));

    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-warning')).toBe('tickets');
    expect(answer.headers.get('x-gateway-body')).toBe('exact');
  });

  test('a redaction reaches the provider redacted', async () => {
    const { host, gateway } = setting();

    const answer = await post(gateway, path, requestFor(dialect, model, saying('write to rosa@example.org')));

    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-body')).toBe('redacted');
    const sent = host.requests.at(-1)?.body.toString() ?? '';
    expect(sent).toContain('[REDACTED:content.email]');
    expect(sent).not.toContain('rosa@example.org');
    expect(JSON.parse(sent)).toMatchObject({ model });
  });
});

test('models that a key may not use are not listed, and look unknown', async () => {
  const { gateway } = setting();

  const listed = (await openaiClient(gateway).models.list()).data.map(({ id }) => id);

  expect(listed).not.toContain('secret-model');
  await expect(anthropicClient(gateway).models.retrieve('secret-model')).rejects.toBeInstanceOf(
    Anthropic.NotFoundError,
  );
});
