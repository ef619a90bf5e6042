import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chatAnswer, json, requestFor, speakAll } from '../kit/answers.ts';
import { post, projects, startGateway, type TestGateway } from '../kit/gateway.ts';
import { type Script, type ScriptedHost, startHost } from '../kit/host.ts';

// Queues, retries and breakers, each at a provider of its own so that no test sees another one's failures.

const names = ['queue', 'again', 'first', 'second'] as const;
type Name = (typeof names)[number];

const settings: Readonly<Record<Name, string>> = {
  queue: 'connections: 1, timeouts: { queue: 300ms }',
  again: 'retries: { attempts: 3, budget: 1 }',
  first: 'retries: { attempts: 1 }, breaker: { failures: 2, open: 30s }',
  second: 'retries: { attempts: 1 }',
};

const hosts = new Map<Name, ScriptedHost>();
let gateway: TestGateway;

beforeAll(async () => {
  for (const name of names) hosts.set(name, await startHost(speakAll));
  const providers = names.map(
    (name) =>
      `  ${name}: { dialect: openai, base_url: "${host(name).url}/v1", endpoints: [chat], ${settings[name]} }`,
  );
  gateway = await startGateway(`
providers:
${providers.join('\n')}
models:
  - { match: either, provider: first, fallbacks: [{ provider: second }] }
${names.map((name) => `  - { match: at-${name}, provider: ${name} }`).join('\n')}
${projects}`);
});

afterAll(async () => {
  await Promise.all([...hosts.values()].map((one) => one.close()));
  await gateway.stop();
});

function host(name: Name): ScriptedHost {
  const found = hosts.get(name);
  if (found === undefined) throw new Error(`there is no host ${name}`);
  return found;
}

function ask(model: string, init: RequestInit = {}): Promise<Response> {
  return post(gateway, '/v1/chat/completions', requestFor('chat', model), init);
}

async function reasonOf(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { error: { reason: unknown } }).error.reason;
}

/** Answers one after the other; the last one stays. */
function inTurn(...answers: readonly Script[]): Script {
  let at = 0;
  return (response, request) => {
    const answer = answers[Math.min(at, answers.length - 1)];
    at += 1;
    return answer?.(response, request);
  };
}

const broken = json('{"error":{"message":"broken"}}', 500);
const good = json(chatAnswer);

describe('the queue before a provider', () => {
  /** A request that holds the only place until it is let go. */
  async function hold(): Promise<{ done: Promise<Response>; release: () => void }> {
    let release: () => void = () => undefined;
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    host('queue').script(async (response, request) => {
      await isReleased;
      return good(response, request);
    });
    const arrived = host('queue').next();
    const done = ask('at-queue');
    await arrived;
    return { done, release };
  }

  test('answers 503 with Retry-After when none does, and nothing was sent', async () => {
    const { done, release } = await hold();
    const before = host('queue').requests.length;

    const second = await ask('at-queue');
    const sent = host('queue').requests.length - before;
    release();
    await done;

    expect(second.status).toBe(503);
    expect(await reasonOf(second)).toBe('gateway.overloaded');
    expect(second.headers.get('retry-after')).toBe('1');
    expect(sent).toBe(0);
  });
});

describe('a request is sent again', () => {
  test('after a refusal for load, as often as configured', async () => {
    const refusal = json('{"error":{"message":"busy"}}', 429, { 'retry-after': '0' });
    host('again').script(inTurn(refusal, refusal, good));

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
    host('again').script(inTurn(refusal, good));
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
    host('again').script(inTurn(json(exhausted(delay), 429), good));

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
    host('again').script(refusal);

    const answer = await ask('at-again');

    expect([answer.status, answer.headers.get('x-gateway-attempts')]).toEqual([429, '3']);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining('answer') } });
  });
});

describe('a breaker', () => {
  test('sends requests straight to the fallback, and is seen in discovery', async () => {
    host('first').script(broken);
    host('second').script(good);
    await ask('either');
    await ask('either');
    const before = host('first').requests.length;

    const answer = await ask('either');
    const listed = await fetch(`${gateway.url}/v1/gateway/models`, { headers: { 'x-api-key': gateway.key } });

    const { data } = (await listed.json()) as { data: { id: string; status: string }[] };
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-provider')).toBe('second');
    expect(answer.headers.get('x-gateway-attempts')).toBe('1');
    expect(host('first').requests.length).toBe(before);
    expect(data.find(({ id }) => id === 'either')?.status).toBe('unhealthy');
    // Another model of the same host may be well.
    expect(data.find(({ id }) => id === 'at-first')?.status).toBe('ready');
    expect(data.find(({ id }) => id === 'at-second')?.status).toBe('ready');
  });
});
