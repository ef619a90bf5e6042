import { describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { dialects } from '../../src/dialects/registry.ts';
import { AnswerHeaders, forwardableHeaders, requestHeaders } from '../../src/providers/headers.ts';
import { unscrubbed } from './wire.ts';

const options = {
  dialect: dialects.chat as Dialect,
  extraNames: new Set<string>(),
  own: [] as readonly string[],
};

/** All headers of a request whose texts no rule objects to. */
function allOf(rawHeaders: readonly string[], overrides: Partial<typeof options> = {}): string[] {
  const all = { ...options, ...overrides };
  const { headers } = forwardableHeaders(rawHeaders, all);
  return pairs(
    requestHeaders(
      headers.flatMap(({ name, value }) => [name, value]),
      all,
    ),
  );
}

/** What goes out of one header, as `name: value`, beside what always goes. */
function passed(name: string, value: string, overrides: Partial<typeof options> = {}): string[] {
  const always = allOf([], overrides);
  return allOf([name, value], overrides).filter((each) => !always.includes(each));
}

function pairs(flat: readonly string[]): string[] {
  return flat.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${flat[i + 1]}`] : []));
}

describe('towards a provider', () => {
  // biome-ignore format: they are alike
  test.each([
    'accept', 'content-type', 'user-agent', 'openai-beta', 'idempotency-key', 'x-stainless-lang',
    'x-stainless-retry-count', 'x-client-request-id', 'tracestate', 'session-id', 'session_id', 'thread-id',
    'conversation_id', 'originator', 'x-codex-window-id', 'x-codex-beta-features', 'x-claude-code-session-id',
    'x-app',
  ])('%s goes on, in any case', (name) => {
    expect(passed(name, 'Value')).toEqual([`${name}: Value`]);
    expect(passed(name.toUpperCase(), 'Value')).toEqual([`${name}: Value`]);
  });

  // biome-ignore format: they are alike
  test.each([
    'authorization', 'x-api-key', 'x-gateway-key', 'proxy-authorization', 'cookie', 'cookie2', 'host',
    'origin', 'referer', 'connection', 'keep-alive', 'upgrade', 'te', 'trailer', 'transfer-encoding',
    'content-length', 'content-encoding', 'accept-encoding', 'expect', 'forwarded', 'via', 'x-forwarded-for',
    'x-forwarded-host', 'x-real-ip', 'x-codex-turn-metadata', 'X-Codex-Turn-Metadata', 'x-stainless',
    'x-codex', 'x-session-id', 'session', 'openai-organization', 'openai-project', 'accept-language',
    'x-request-id', 'x-gateway-anything', 'sec-fetch-mode',
  ])('%s does not', (name) => {
    expect(passed(name, 'value')).toEqual([]);
    expect(passed(name, 'value', { dialect: dialects.messages })).toEqual([]);
  });

  test('accept-encoding is always identity', () => {
    expect(allOf(['Accept-Encoding', 'gzip'])).toEqual(['accept-encoding: identity']);
  });

  test("Anthropic's headers go to Anthropic's dialect alone", () => {
    expect(passed('anthropic-beta', 'a,b')).toEqual([]);
    expect(passed('anthropic-beta', 'a,b', { dialect: dialects.messages })).toEqual(['anthropic-beta: a,b']);
  });

  test('the version is the one the client named, else the usual one', () => {
    expect(allOf([], { dialect: dialects.messages })).toContain('anthropic-version: 2023-06-01');
    const named = allOf(['Anthropic-Version', '2026-10-21'], { dialect: dialects.messages });
    expect(named).toContain('anthropic-version: 2026-10-21');
    expect(named).not.toContain('anthropic-version: 2023-06-01');
    expect(allOf([]).join()).not.toContain('anthropic-version');
  });

  test('our own headers and those that the configuration lets through go along', () => {
    const extraNames = new Set(['x-session-id']);
    const sent = allOf(['X-Session-Id', 's'], { extraNames, own: ['x-api-key', 'ours'] });

    expect(sent).toEqual(['accept-encoding: identity', 'x-api-key: ours', 'x-session-id: s']);
  });

  // biome-ignore format: they are alike
  test.each([
    'authorization', 'x-api-key', 'x-gateway-key', 'proxy-authorization', 'host', 'connection', 'keep-alive',
    'te', 'trailer', 'transfer-encoding', 'upgrade', 'content-length', 'content-encoding', 'accept-encoding',
    'expect',
  ])('no configuration lets %s through', (name) => {
    expect(passed(name, 'value', { extraNames: new Set([name]) })).toEqual([]);
  });

  test('of two content types only the one that was checked is forwarded', () => {
    const sent = allOf(['Content-Type', 'application/json', 'content-type', 'text/plain']);

    expect(sent).toEqual(['accept-encoding: identity', 'content-type: application/json']);
  });
});

describe('towards the client', () => {
  const passedOn = (...flat: string[]) => {
    const passed: string[] = [];
    // As undici gives them: by their lower-case names, several of one name as a list.
    const received: Record<string, string | string[]> = {};
    for (let i = 0; i < flat.length; i += 2) {
      const name = (flat[i] ?? '').toLowerCase();
      const before = received[name];
      received[name] = before === undefined ? (flat[i + 1] ?? '') : [before, flat[i + 1] ?? ''].flat();
    }
    new AnswerHeaders(received).passOn(passed, unscrubbed);
    return pairs(passed);
  };

  // biome-ignore format: they are alike
  test.each([
    'content-type', 'retry-after', 'retry-after-ms', 'x-should-retry', 'request-id',
    'anthropic-ratelimit-requests-limit', 'anthropic-organization-id', 'openai-processing-ms',
    'openai-version', 'x-ratelimit-limit-requests', 'x-codex-primary-used-percent',
  ])('%s goes on', (name) => {
    expect(passedOn(name.toUpperCase(), 'Value')).toEqual([`${name}: Value`]);
  });

  // biome-ignore format: they are alike
  test.each([
    'set-cookie', 'access-control-allow-origin', 'access-control-allow-credentials', 'server', 'date', 'via',
    'location', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-encoding',
    'strict-transport-security', 'alt-svc', 'cf-ray', 'www-authenticate', 'cache-control', 'link', 'trailer',
    'x-gateway-error', 'x-gateway-body', 'x-powered-by',
  ])('%s does not', (name) => {
    expect(passedOn(name, 'value')).toEqual([]);
  });

  test("the provider's x-request-id is passed on under another name", () => {
    expect(passedOn('X-Request-Id', 'theirs')).toEqual(['x-provider-request-id: theirs']);
  });

  test('of equal names the first counts, and bytes above ASCII stay what they are', () => {
    expect(passedOn('Content-Type', 'a', 'content-type', 'b', 'openai-x', 'caf\xe9')).toEqual([
      'content-type: a',
      'openai-x: caf\xe9',
    ]);
  });

  test('a header with a secret in its name stays here', () => {
    const passed: string[] = [];
    new AnswerHeaders({ 'x-codex-secret': '1', 'x-codex-a': 'secret' }).passOn(passed, {
      text: (text) => text.replace('secret', '[mask]'),
      inName: (name) => (name.includes('secret') ? 'secret' : undefined),
    });

    expect(passed).toEqual(['x-codex-a', '[mask]']);
  });
});
