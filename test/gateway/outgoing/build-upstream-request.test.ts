import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { json, speakAll } from '../../kit/answers.ts';
import { post, secrets } from '../../kit/gateway.ts';
import { startHosts } from '../../kit/lifecycle.ts';

// The translation writes "Error: " before a failed result, so these phrases are in no body of the client's.
const { anthropic, openai, gateway } = await startHosts(
  speakAll,
  ({ anthropic, openai }) => `
providers:
  claude: { dialect: anthropic, base_url: "${anthropic}", api_key: "\${PROVIDER_KEY}", retries: { attempts: 1 }, forward_headers: [x-team] }
  gpt: { dialect: openai, base_url: "${openai}/v1", api_key: "\${PROVIDER_KEY}", endpoints: [chat] }
models:
  - { match: "claude-*", provider: claude }
  - { match: with-fallback, provider: claude, fallbacks: [{ provider: gpt, model: gpt-test }] }
  - { match: "gpt-*", provider: gpt }
policies:
  house:
    apply: all
    rules:
      - { id: launch, action: block, when: { text: { phrases: ["error: launch"] } }, reason: content.launch }
      - { id: hush, action: redact, when: { text: { phrases: ["error: hush"] } }, reason: content.hush }
      - { id: tickets, action: warn, when: { text: { phrases: ["error: ticket"] } }, reason: content.ticket }
      - { id: dry, action: block, mode: monitor, when: { text: { phrases: ["error: dry"] } }, reason: content.dry }
      - { id: long, action: block, when: { max_output_tokens: { over: 9000 }, model: [claude-*, gpt-*] }, reason: limits.max_output_tokens }
projects:
  shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
`,
);

const failed = (content: string, model = 'gpt-test') => ({
  model,
  max_tokens: 64,
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', is_error: true, content }] },
  ],
});

async function ask(body: object, headers: Record<string, string> = {}) {
  const before = [anthropic.requests.length, openai.requests.length] as const;
  const answer = await post(gateway, '/v1/messages', body, { headers });
  const value = (await answer.json()) as { error?: { reason: string; param: string } };
  const requests = [anthropic.requests.slice(before[0]), openai.requests.slice(before[1])] as const;
  return { answer, error: value.error, requests, record: gateway.records.at(-1) };
}

describe('a translated body', () => {
  test('is refused for what only the translation brought about, with its place there', async () => {
    const { answer, error, requests, record } = await ask(failed('launch it'));

    expect([answer.status, error?.reason, error?.param]).toEqual([
      403,
      'content.launch',
      '/messages/2/content',
    ]);
    expect(requests).toEqual([[], []]);
    expect(record).toMatchObject({
      decision: 'block',
      rules: [{ id: 'launch', action: 'block', at: '/messages/2/content', count: 1, on: 'outgoing' }],
    });
  });

  test('leaves without what a rule redacts', async () => {
    const { answer, requests, record } = await ask(failed('hush hush'));

    expect(answer.headers.get('x-gateway-body')).toBe('redacted');
    expect(requests[1][0]?.body.toString()).toContain('"content":"[REDACTED:content.hush] hush"');
    expect(record).toMatchObject({ decision: 'redact', rules: [{ id: 'hush', on: 'outgoing' }] });
  });

  test('that is warned of or would be blocked is noted as any other', async () => {
    const warned = await ask(failed('ticket'));
    const monitored = await ask(failed('dry run'));

    expect(warned.answer.headers.get('x-gateway-warning')).toBe('tickets');
    expect(warned.record).toMatchObject({ decision: 'warn', rules: [{ id: 'tickets', on: 'outgoing' }] });
    expect(monitored.record).toMatchObject({ decision: 'allow', would_block: ['dry'] });
  });

  test('is checked for a fallback before anything of it leaves', async () => {
    anthropic.script(json('{}', 503));

    const { answer, error, requests } = await ask(failed('launch it', 'with-fallback'));

    anthropic.script(speakAll);
    expect([answer.status, error?.reason]).toEqual([403, 'content.launch']);
    expect(requests.map((each) => each.length)).toEqual([1, 0]);
  });

  test('of which no rule finds anything is sent', async () => {
    const { answer, requests } = await ask(failed('nothing'));

    expect([answer.status, answer.headers.get('x-gateway-body')]).toEqual([200, 'translated']);
    expect(requests[1][0]?.body.toString()).toContain('Error: nothing');
  });
});

describe('headers', () => {
  const hello = { model: 'claude-test', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };

  test('with what a rule blocks refuse the request', async () => {
    const { answer, error, requests } = await ask(hello, { 'x-team': `a ${secrets.PROVIDER_KEY}` });

    expect([answer.status, error?.reason, error?.param]).toEqual([
      403,
      'content.gateway_key',
      'header:x-team',
    ]);
    expect(requests).toEqual([[], []]);
  });

  test('with what a rule redacts, or of another alphabet, are left out and recorded', async () => {
    const { answer, requests, record } = await ask(hello, { 'x-team': 'error: hush', 'x-app': 'a{b}' });

    const names = requests[0][0]?.headers.map(([name]) => name) ?? [];
    expect(answer.status).toBe(200);
    expect(names.filter((name) => name === 'x-team' || name === 'x-app')).toEqual([]);
    expect(record?.dropped?.toSorted()).toEqual(['header:x-app', 'header:x-team']);
  });
});

test('only one place in the sources marks a request as approved', () => {
  const root = join(import.meta.dirname, '..', '..', '..', 'src');
  const marking = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .filter((name) =>
      /\bas (?:unknown as )?(?:UpstreamRequest|ProviderRequest)\b/.test(
        readFileSync(join(root, name), 'utf8'),
      ),
    );

  expect(marking).toEqual([join('gateway', 'outgoing', 'build-upstream-request.ts')]);
});
