import { describe, expect, test } from 'vitest';
import { json, messagesAnswer, speakAll } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { secrets } from '../kit/gateway.ts';
import { sha256 } from '../kit/host.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { postRaw } from '../kit/raw.ts';

const { anthropic, gateway } = await startHosts(speakAll, (urls) =>
  twoHosts({ ...urls, provider: 'forward_headers: [X-Team]' }),
);

/** Headers that no provider may ever get. */
const forbidden = [
  `X-Gateway-Key: ${secrets.PROJECT_KEY}`,
  'Cookie: session=abc',
  'X-Forwarded-For: 10.0.0.1',
  'Proxy-Authorization: Basic abc',
  'X-Codex-Turn-Metadata: {"cwd":"/home/somebody"}',
  'X-Unknown: 1',
];

const claudeCode = [
  'Content-Type: application/json',
  'Accept: application/json',
  'User-Agent: claude-cli/2.1.329 (external, cli)',
  'X-Stainless-Lang: js',
  'anthropic-version: 2023-06-01',
  'anthropic-beta: claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27',
  'anthropic-dangerous-direct-browser-access: true',
  'x-app: cli',
  'X-Claude-Code-Session-Id: 3b1f',
  'X-Team: green',
  'Accept-Encoding: gzip, deflate, br, zstd',
];

const send = (path: string, body: object | Buffer, headers?: readonly string[]) =>
  postRaw(gateway, path, body, headers);

test('exactly the headers of Claude Code and our key reach the provider, its body untouched', async () => {
  const content = 'é👋'.repeat(100_000);
  const body = Buffer.from(
    JSON.stringify({ model: 'claude-test', max_tokens: 9, messages: [{ role: 'user', content }] }),
  );

  const answer = await send('/v1/messages?beta=true&debug=1', body, [
    ...claudeCode,
    `Authorization: Bearer ${gateway.key}`,
    ...forbidden,
  ]);

  const received = anthropic.requests.at(-1);
  expect([answer.status, answer.isWhole]).toEqual([200, true]);
  expect(received?.target).toBe('/v1/messages?beta=true');
  expect(body.length).toBeGreaterThan(600_000);
  expect(received?.sha256).toBe(sha256(body));
  const forwarded = claudeCode
    .filter((line) => !line.startsWith('Accept-Encoding'))
    .map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()));
  expect(received?.headers.map(([name, value]) => `${name}: ${value}`).toSorted()).toEqual(
    [
      `host: ${new URL(anthropic.url).host}`,
      'connection: keep-alive',
      `content-length: ${body.length}`,
      'accept-encoding: identity',
      `x-api-key: ${secrets.PROVIDER_KEY}`,
      ...forwarded,
    ].toSorted(),
  );
});

test('counting tokens is forwarded', async () => {
  anthropic.script(json('{"input_tokens":12}'));

  const answer = await send('/v1/messages/count_tokens?beta=true', {
    model: 'claude-test',
    messages: [{ role: 'user', content: 'x' }],
  });

  anthropic.script(speakAll);
  expect(answer.body.toString()).toBe('{"input_tokens":12}');
  expect(answer.headers.has('x-gateway-estimate')).toBe(false);
  expect(anthropic.requests.at(-1)?.target).toBe('/v1/messages/count_tokens?beta=true');
});

describe('towards the client', () => {
  const providerHeaders = {
    'retry-after-ms': '20',
    'x-should-retry': 'true',
    'request-id': 'provider-request',
    'x-request-id': 'other-provider-request',
    'anthropic-ratelimit-requests-remaining': '9',
    'set-cookie': 'tracking=1',
    'access-control-allow-origin': '*',
    server: 'provider',
    'x-gateway-error': 'true',
    'x-gateway-provider': 'made-up',
  };

  test('exactly the listed headers of an answer get through', async () => {
    anthropic.script(json(messagesAnswer, 200, providerHeaders));

    const answer = await send('/v1/messages', { model: 'claude-test', max_tokens: 9, messages: [] });

    const headers = new Map(answer.headers);
    expect(headers.get('x-request-id')?.[0]).toMatch(/^req_[0-9a-f]{30}$/);
    for (const name of ['x-request-id', 'date']) headers.delete(name);
    expect(Object.fromEntries(headers)).toEqual({
      'content-type': ['application/json'],
      'content-length': [String(messagesAnswer.length)],
      'retry-after-ms': ['20'],
      'x-should-retry': ['true'],
      'request-id': ['provider-request'],
      'x-provider-request-id': ['other-provider-request'],
      'anthropic-ratelimit-requests-remaining': ['9'],
      'x-content-type-options': ['nosniff'],
      'x-gateway-body': ['exact'],
      'x-gateway-attempts': ['1'],
      'x-gateway-provider': ['claude'],
      'x-gateway-model': ['claude-test'],
      connection: ['keep-alive'],
      'keep-alive': headers.get('keep-alive'),
    });
  });

  test('a provider without a request id leaves ours under both names', async () => {
    const answer = await send('/v1/chat/completions', { model: 'gpt-test', messages: [] });

    expect(answer.headers.get('request-id')).toEqual(answer.headers.get('x-request-id'));
  });
});
