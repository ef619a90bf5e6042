import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { chatAnswer, json, requestFor, speakAll } from '../kit/answers.ts';
import { post, projects, startGateway } from '../kit/gateway.ts';
import { type Script, type ScriptedHost, startHost } from '../kit/host.ts';

// Retries and breakers, each at a provider of its own so that no test sees another one's failures.

const again = await startHost(speakAll);
const first = await startHost(speakAll);
const second = await startHost(speakAll);
const at = (host: ScriptedHost) => `dialect: openai, base_url: "${host.url}/v1", endpoints: [chat]`;
const gateway = await startGateway(`
providers:
  again: { ${at(again)}, retries: { attempts: 3, budget: 1 } }
  first: { ${at(first)}, retries: { attempts: 1 }, breaker: { failures: 2, open: 30s } }
  second: { ${at(second)}, retries: { attempts: 1 } }
models:
  - { match: either, provider: first, fallbacks: [{ provider: second }] }
  - { match: at-again, provider: again }
  - { match: at-first, provider: first }
  - { match: at-second, provider: second }
${projects}`);

function ask(model: string): Promise<Response> {
  return post(gateway, '/v1/chat/completions', requestFor('chat', model));
}

/** Answers one after the other; the last one stays. */
function inTurn(...answers: readonly Script[]): Script {
  let at = -1;
  return (response, request) => {
    at += 1;
    return (answers[at] ?? answers.at(-1))?.(response, request);
  };
}

const good = json(chatAnswer);

describe('a request is sent again', () => {
  test('after a refusal for load, as often as configured', async () => {
    const refusal = json('{"error":{"message":"busy"}}', 429, { 'retry-after': '0' });
    again.script(inTurn(refusal, refusal, good));

    const answer = await ask('at-again');

    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-attempts')).toBe('3');
  });

  const exhausted = (retryDelay: string) =>
    JSON.stringify({
      error: {
        code: 429,
        message: 'Quota exceeded.',
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }],
      },
    });

  test.each([
    ["Google's RetryInfo", json(exhausted('0.700s'), 429), 700],
    ['the same of a busy host', json(exhausted('0.700s'), 503), 700],
    ['the same, compressed', json(gzipSync(exhausted('0.700s')), 429, { 'content-encoding': 'gzip' }), 700],
  ])('after the wait of its vendor: %s', async (_, refusal, leastMs) => {
    again.script(inTurn(refusal, good));
    const beganMs = performance.now();

    const answer = await ask('at-again');

    expect([answer.status, answer.headers.get('x-gateway-attempts')]).toEqual([200, '2']);
    const tookMs = performance.now() - beganMs;
    expect(tookMs).toBeGreaterThanOrEqual(leastMs);
    expect(tookMs).toBeLessThan(10_000);
  });

  test.each([
    ['61s', '61'],
    ['3600.5s', '3601'],
  ])('but not after %s, which is for the client to wait', async (delay, seconds) => {
    again.script(inTurn(json(exhausted(delay), 429), good));

    const answer = await ask('at-again');

    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, seconds]);
    expect(answer.headers.get('x-gateway-attempts')).toBe('1');
    expect(await answer.text()).toContain('Quota exceeded.');
  });

  test.each([
    ['is too long to be read', json('x'.repeat(300_000), 429)],
    ['is encoded as nobody asked', json('x', 429, { 'content-encoding': 'zstd' })],
    ['is no gzip', json('x', 429, { 'content-encoding': 'gzip' })],
  ])('and is refused as the provider did in the end, if its body %s', async (_, refusal) => {
    again.script(refusal);

    const answer = await ask('at-again');

    expect([answer.status, answer.headers.get('x-gateway-attempts')]).toEqual([429, '3']);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining('answer') } });
  });
});

describe('a breaker', () => {
  test('sends requests straight to the fallback, and is seen in discovery', async () => {
    first.script(json('{"error":{"message":"broken"}}', 500));
    second.script(good);
    await ask('either');
    await ask('either');
    const before = first.requests.length;

    const answer = await ask('either');
    const listed = await fetch(`${gateway.url}/v1/gateway/models`, { headers: { 'x-api-key': gateway.key } });

    const { data } = (await listed.json()) as { data: { id: string; status: string }[] };
    const statuses = Object.fromEntries(data.map(({ id, status }) => [id, status]));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-provider')).toBe('second');
    expect(answer.headers.get('x-gateway-attempts')).toBe('1');
    expect(first.requests.length).toBe(before);
    // Another model of the same host may be well.
    expect(statuses).toMatchObject({ either: 'unhealthy', 'at-first': 'ready', 'at-second': 'ready' });
  });
});
