import { describe, expect, test } from 'vitest';
import { dialectCases, json, requestFor, speakAll } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { secrets } from '../kit/gateway.ts';
import type { Script } from '../kit/host.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { postRaw } from '../kit/raw.ts';

// What of a provider's own words reaches the client and the record.

const { anthropic, openai, gateway } = await startHosts(speakAll, (urls) =>
  twoHosts({
    ...urls,
    provider:
      'retries: { attempts: 1 }, breaker: { failures: 1000 }, timeouts: { headers: 500ms, idle: 500ms, total: 20s }',
  }),
);

function script(answer: Script): void {
  anthropic.script(answer);
  openai.script(answer);
}

type Dialect = (typeof dialectCases)[number];

const ask = ({ dialect, path, model }: Dialect, extra: object = {}) =>
  postRaw(gateway, path, requestFor(dialect, model, extra));

const manyX = 'x'.repeat(290);

describe.each(dialectCases)('$dialect', (each) => {
  test.each([400, 429, 529])(
    'an error %d passes with its own bytes, status and retry-after',
    async (status) => {
      const body = `{ "type" : "error", "error": {"type":"api_error","message":"told to fail","n": 12345678901234567890} }\n`;
      script(json(body, status, { 'retry-after': '3', 'x-should-retry': 'false' }));

      const answer = await ask(each, { stream: true });

      expect(answer.status).toBe(status);
      expect(answer.body.toString()).toBe(body);
      expect(answer.headers.get('retry-after')).toEqual(['3']);
      expect(answer.headers.get('x-should-retry')).toEqual(['false']);
      expect(answer.headers.has('x-gateway-error')).toBe(false);
      expect(answer.headers.has('x-gateway-provider')).toBe(false);
    },
  );

  test.each([200, 400, 500])('our secrets are taken out of an answer %d and its headers', async (status) => {
    const wordsOf = (key: string, other: string) =>
      `{"type":"error","error":{"type":"api_error","message":"key ${key} of ${other}"}}`;
    const note = { 'x-ratelimit-note': `key ${secrets.PROVIDER_KEY}` };
    script(json(wordsOf(secrets.PROVIDER_KEY, secrets.PROJECT_KEY), status, note));

    const answer = await ask(each);

    const expected = wordsOf('[secret]', '[secret]');
    expect(answer.status).toBe(status);
    expect(answer.body.toString()).toBe(expected);
    expect(answer.headers.get('content-length')).toEqual([String(expected.length)]);
    expect(answer.headers.get('x-ratelimit-note')).toEqual(['key [secret]']);
  });

  test.each([
    [
      'a page',
      '<html><script>let x;</script><h1>Bad</h1>\n <p>host 10.0.0.7</p></html>',
      'Bad host 10.0.0.7',
    ],
    ['a text', `oh no, ${secrets.PROVIDER_KEY}`, 'oh no, [secret]'],
    ['nothing', '', undefined],
    ['half of an object', '{"error":{"mess', '{"error":{"mess'],
    ['a key across the cut', `${manyX}${secrets.PROVIDER_KEY}`, `${manyX}[secret]`],
    ['a page of nothing but beginnings of tags', '<'.repeat(250_000), undefined],
    ['a long page', `<p>${'x'.repeat(2_000)}</p>`, `${'x'.repeat(300)}…`],
  ])(
    'an error that is %s becomes one of the dialect, its words go into the record',
    async (_what, page, cause) => {
      const before = gateway.records.length;
      script(json(page, 502, { 'content-type': 'text/html', 'retry-after': '120' }));

      const answer = await ask(each);

      const text = answer.body.toString();
      expect(answer.status).toBe(502);
      expect(answer.headers.get('content-type')).toEqual(['application/json']);
      expect(JSON.parse(text).error).toMatchObject({ message: expect.any(String), type: expect.any(String) });
      expect(text).not.toContain('<');
      expect(text).not.toContain(secrets.PROVIDER_KEY);
      const record = (await gateway.recorded(before + 1))[before];
      expect([record?.status, record?.cause]).toEqual([502, cause]);
    },
  );

  // All the forms that errors have: dialects/failure.
  test.each([
    ['"oops"', 'oops'],
    ['{}', 'the provider answered with 422'],
    ['{"detail":"too long"}', 'too long'],
  ])('an error %s becomes one of the dialect', async (body, message) => {
    script(json(body, 422));

    const answer = await ask(each);

    const { type, error } = JSON.parse(answer.body.toString()) as { type?: string; error: object };
    expect(answer.status).toBe(422);
    expect(error).toMatchObject({ type: 'invalid_request_error', message });
    expect(type).toBe(each.dialect === 'messages' ? 'error' : undefined);
  });

  test('an answer that is not JSON leaves none of its text in the record', async () => {
    const before = gateway.records.length;
    script(json(`${secrets.PROVIDER_KEY.slice(0, 8)}, the rest is no JSON`));

    const answer = await ask(each);

    expect(answer.status).toBe(502);
    const record = (await gateway.recorded(before + 1))[before];
    expect(record).toMatchObject({ outcome: 'failed', cause: 'SyntaxError' });
  });
});

// Claude Code looks for these words in an error's message, and goes on without what the host can't do.
test.each(['capability_rejected: beta_header:context-1m-2025-08-07', 'capability_rejected: thinking'])(
  'the words "%s" reach Claude Code from hosts of its own dialect and of others',
  async (words) => {
    const body = {
      type: 'error',
      error: { type: 'invalid_request_error', message: `400 ${words} is not here` },
    };
    script(json(JSON.stringify(body), 400));
    const request = { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };

    for (const model of ['claude-test', 'gpt-test']) {
      const answer = await postRaw(gateway, '/v1/messages', { model, ...request });

      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body.toString()).error.message).toContain(words);
    }
  },
);
