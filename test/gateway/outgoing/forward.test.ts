import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import { translateRequest } from '../../../src/gateway/decision/translate-request.ts';
import { endpoints, type ModelEndpoint } from '../../../src/gateway/endpoints.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import type { Outgoing } from '../../../src/gateway/outgoing/build-upstream-request.ts';
import { forward as forwardDecided } from '../../../src/gateway/outgoing/forward.ts';
import { RecordDraft } from '../../../src/gateway/record-draft.ts';
import { parseRequest } from '../../../src/gateway/request.ts';
import { type Subscriber, Subscribers } from '../../../src/gateway/subscriber.ts';
import { Lifetime } from '../../../src/lib/lifetime.ts';
import { noRoute } from '../../../src/policy/routes.ts';
import type { Forwarded } from '../../../src/providers/attempt.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { readWhole } from '../../../src/providers/read-whole.ts';
import type { Target } from '../../../src/providers/route.ts';
import { type Script, type ScriptedHost, startHost } from '../../kit/host.ts';
import { deadUrl } from '../../kit/listening.ts';
import { startRawHost } from '../../kit/raw-host.ts';
import { compile, subjectOf } from '../../policy/deciding.ts';
import { makeProvider, type Overrides, target } from '../../providers/make-provider.ts';

const endpoint = endpoints.get('/v1/chat/completions') as ModelEndpoint;
// What `n` asks for can't be translated to Anthropic's dialect.
const body = '{"model":"m","n":2,"messages":[]}';
const policies = compile({ house: { rules: [] } }).select(['house']);

function outgoingTo([first, ...others]: readonly Target[]): Outgoing {
  if (first === undefined) throw new Error('there is no target');
  const targets = [first, ...others] as const;
  const request = parseRequest(Buffer.from(body), endpoint);
  const { document: _document, dialect: _dialect, ...meta } = subjectOf({}, { model: 'm' });
  const decision = { action: 'allow' as const, verdicts: [], wouldBlock: [], unseen: 0 };
  const key = { id: 'web', project: 'shop', policies } as unknown as Outgoing['routed']['decided']['key'];
  const decided = {
    request,
    endpoint,
    key,
    decision,
    route: noRoute,
    meta,
    answerRules: [],
    login: undefined,
  };
  const decider = { translateRequest } as unknown as Outgoing['decider']; // no thread is needed
  return { routed: { kind: 'provider', decided, targets }, query: '', decider, isLimited: false };
}

/** The parts of an exchange that forwarding uses. */
function exchangeWith(lifetime: Lifetime, subscriber: Subscriber = {}): Exchange {
  const request = { rawHeaders: ['content-type', 'application/json', 'user-agent', 'test'] };
  const record = new RecordDraft({ id: 'id', time: '', method: 'POST' });
  const events = new Subscribers([record, subscriber]);
  return { record, events, lifetime, request, scrubAlso: () => undefined } as unknown as Exchange;
}

/** Sends a small request to the first target that answers. */
async function forward(
  targets: readonly Target[],
  lifetime = new Lifetime(),
  exchange = exchangeWith(lifetime),
): Promise<Forwarded & { readonly attempts: number | undefined }> {
  const forwarded = await forwardDecided(exchange, outgoingTo(targets));
  return Object.assign(forwarded, { attempts: exchange.record.soFar.attempts });
}

function provider(url: string, overrides: Overrides = {}): Provider {
  const made = makeProvider(url, overrides);
  onTestFinished(() => made.close());
  return made;
}

/** Answers with the statuses in turn, the last one for ever. */
function statuses(...list: readonly (number | readonly [number, Record<string, string>])[]): Script {
  return (response, { number }) => {
    const entry = list[Math.min(number, list.length) - 1] ?? 200;
    const [status, headers] = typeof entry === 'number' ? [entry, {}] : entry;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ number }));
  };
}

const soon = { 'retry-after': '0' };

async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

async function bodyOf(forwarded: Forwarded): Promise<string> {
  const body = await readWhole(forwarded.answer, 1_000_000, new Lifetime());
  forwarded.release();
  return body.toString();
}

/** That nobody is at the provider any more: all its places can be taken. */
function expectEmpty({ admission, options }: Provider): void {
  for (let i = 0; i < options.connections; i += 1) expect(admission.tryEnter(), `place ${i}`).toBe(true);
  expect(admission.tryEnter(), 'a place given back twice').toBe(false);
  for (let i = 0; i < options.connections; i += 1) admission.leave();
}

/** Forwards to hosts that answer so, each the fallback of the one before, and tells what came of it. */
async function forwardTo(...scripts: readonly Script[]) {
  const hosts = await Promise.all(scripts.map((script) => startHost(script)));
  const providers = hosts.map(({ url }) => provider(url));
  const forwarded = await forward(providers.map((at, number) => target(at, `m${number}`)));
  const { answer, attempts } = forwarded;
  const body = await bodyOf(forwarded);
  for (const at of providers) expectEmpty(at);
  const requests = hosts.map((host) => host.requests.length);
  const { status, headers } = answer;
  return { status, headers, attempts, body, requests, model: forwarded.target.model };
}

describe('one target', () => {
  test('gets the request once and returns its answer', async () => {
    const there = await startHost((response, { method, target: path, body: sent }) =>
      response.end(JSON.stringify([method, path, sent.toString()])),
    );
    const at = provider(`${there.url}/base/v1`);

    const forwarded = await forward([target(at)]);

    expect(forwarded).toMatchObject({ attempts: 1, answer: { status: 200 } });
    expect(JSON.parse(await bodyOf(forwarded))).toEqual(['POST', '/base/v1/chat/completions', body]);
    expectEmpty(at);
  });

  test('that refuses connections is tried twice: provider.unreachable', async () => {
    const at = provider(await deadUrl());
    const before = at.retryBudget.take(0);

    const error = await failureOf(forward([target(at)]));

    expect(before).toBe(true);
    expect([error.code, error.failure.status]).toEqual(['provider.unreachable', 502]);
    expect((error.cause as { code: string }).code).toBe('ECONNREFUSED');
    expectEmpty(at);
  });

  test.each([
    ['closes without an answer', (socket: Socket) => socket.end()],
    ['answers nonsense', (socket: Socket) => socket.end('hello\r\n\r\n')],
  ])('that takes the request and %s is not asked again', async (_name, answer) => {
    const there = await startRawHost(({ socket }) => void answer(socket));
    const at = provider(there.url);
    const spare = target(provider(there.url));

    const error = await failureOf(forward([target(at), spare]));

    expect(error.code).toBe('provider.broken_response');
    expect(there.requests()).toBe(1);
    expectEmpty(at);
  });

  test.each([
    ['does not answer in time', { headersMs: 50 }],
    ['takes longer than the whole exchange may', { totalMs: 50 }],
  ])('that %s: provider.timeout, and it sees the connection close', async (_name, timeouts) => {
    const there = await startHost(() => undefined);
    const at = provider(there.url, { timeouts });

    const error = await failureOf(forward([target(at), target(provider(there.url))]));

    expect([error.code, error.failure.status]).toEqual(['provider.timeout', 504]);
    await there.closed(1);
    expect(there.requests.length).toBe(1);
    expectEmpty(at);
  });
});

describe('refusals for load', () => {
  test.each([429, 503, 529])('%i is repeated once, then passed on with its own words', async (status) => {
    const done = await forwardTo(statuses([status, soon]));

    expect(done).toMatchObject({ status, attempts: 2, requests: [2], body: '{"number":2}' });
  });

  test.each([
    ['a wait of more than 60 s', { 'retry-after': '61' }],
    ['x-should-retry: false', { ...soon, 'x-should-retry': 'false' }],
  ])('%s is passed on at once', async (_name, headers) => {
    const done = await forwardTo(statuses([429, headers]));

    expect(done).toMatchObject({ status: 429, attempts: 1, requests: [1] });
    expect(done.headers.get('retry-after')).toBe(headers['retry-after']);
  });

  test.each([401, 408, 500, 504])('%i is passed on at once', async (status) => {
    expect(await forwardTo(statuses([status, soon]))).toMatchObject({ status, requests: [1] });
  });

  test('only as many are repeated as the budget has', async () => {
    const there = await startHost(statuses([429, soon]));
    const at = provider(there.url);

    for (let i = 0; i < 60; i += 1) await bodyOf(await forward([target(at)]));

    // Ten before anybody paid, then one in five requests.
    expect(there.requests.length).toBeGreaterThanOrEqual(60 + 10 + 10);
    expect(there.requests.length).toBeLessThanOrEqual(60 + 10 + 12);
  });
});

describe('fallbacks', () => {
  test.each([
    [429, 2],
    [500, 1],
    [504, 1],
    [529, 2],
  ])('%i goes to the next target after %i requests', async (status, tried) => {
    const done = await forwardTo(statuses([status, soon]), statuses(200));

    expect(done).toMatchObject({ status: 200, model: 'm1', attempts: tried + 1, requests: [tried, 1] });
  });

  test.each([400, 403, 422])('%i does not', async (status) => {
    expect(await forwardTo(statuses(status), statuses(200))).toMatchObject({ status, requests: [1, 0] });
  });

  test('the last answer is passed on when all fail', async () => {
    expect(await forwardTo(statuses(500), statuses(502))).toMatchObject({ status: 502, requests: [1, 1] });
  });

  test('a refused connection goes to the next target', async () => {
    const second = await startHost(statuses(200));

    const forwarded = await forward([target(provider(await deadUrl())), target(provider(second.url))]);

    expect([forwarded.answer.status, forwarded.attempts]).toEqual([200, 3]);
    await bodyOf(forwarded);
  });

  test('an answer is passed on if the targets after it are unavailable', async () => {
    const first = await startHost(statuses([500, { 'x-ratelimit-mine': 'yes' }]));
    const second = provider(await deadUrl(), { breaker: { failures: 1, openMs: 60_000 } });
    second.health.failed('m', Date.now());

    const forwarded = await forward([target(provider(first.url)), target(second)]);

    expect([forwarded.answer.status, forwarded.answer.headers.get('x-ratelimit-mine')]).toEqual([500, 'yes']);
    await bodyOf(forwarded);
  });
});

describe('a provider that fails every time', () => {
  const breaker = { failures: 5, openMs: 60_000 };

  test('gets no more requests after five failures, and the next target is asked instead', async () => {
    const there = await startHost(statuses(500));
    const at = provider(there.url, { breaker });
    for (let i = 0; i < 5; i += 1) await bodyOf(await forward([target(at)]));

    const error = await failureOf(forward([target(at)]));

    expect([error.code, error.failure.status, there.requests.length]).toEqual([
      'provider.unavailable',
      503,
      5,
    ]);
    expect(error.retryAfterS).toBeGreaterThan(50);
    expect(at.health.isOpen('m')).toBe(true);

    const good = await startHost(statuses(200));
    const forwarded = await forward([target(at), target(provider(good.url))]);
    expect([forwarded.answer.status, forwarded.attempts]).toEqual([200, 1]);
    await bodyOf(forwarded);
  });

  test('a probe that never reached it lets the next one probe', async () => {
    const there = await startHost(statuses(200));
    const at = provider(there.url, {
      connections: 1,
      timeouts: { queueMs: 20 },
      breaker: { failures: 1, openMs: 30_000 },
    });
    at.health.failed('m', Date.now() - 40_000);
    at.admission.tryEnter();
    expect((await failureOf(forward([target(at)]))).code).toBe('gateway.overloaded');
    const elsewhere = provider(there.url, { endpoints: new Set(['messages']) });
    expect((await failureOf(forward([target(elsewhere)]))).code).toBe('request.unsupported');
    at.admission.leave();

    const forwarded = await forward([target(at)]);

    expect(forwarded.answer.status).toBe(200);
    await bodyOf(forwarded);
    expectEmpty(at);
  });
});

describe('the queue at a provider', () => {
  test('is left after a time with gateway.overloaded', async () => {
    const there = await startHost(() => undefined);
    const at = provider(there.url, { connections: 1, timeouts: { queueMs: 30 } });
    const lifetime = new Lifetime();
    const first = failureOf(forward([target(at)], lifetime));
    await there.reached(1);

    const error = await failureOf(forward([target(at)]));

    expect([error.code, error.failure.status, error.retryAfterS]).toEqual(['gateway.overloaded', 503, 1]);
    expect(there.requests.length).toBe(1);
    lifetime.end(new GatewayError('client.left', 'the client left'));
    await first;
    expectEmpty(at);
  });

  test('moves on, and no more are there than may be, however their exchanges end', async () => {
    let here = 0;
    let most = 0;
    const ends: readonly ((response: ServerResponse) => unknown)[] = [
      (response) => response.end('{}'),
      (response) => response.writeHead(500).end('{}'),
      (response) => response.writeHead(429, soon).end('{}'),
      (response) => response.socket?.destroy(),
    ];
    const there = await startHost(async (response, { number }) => {
      here += 1;
      most = Math.max(most, here);
      await new Promise((resolve) => setTimeout(resolve, 2));
      here -= 1;
      ends[number % ends.length]?.(response);
    });
    const at = provider(there.url, { connections: 2 });

    const asked = Array.from({ length: 40 }, async () => bodyOf(await forward([target(at)])));
    await Promise.allSettled(asked);

    expect(most).toBe(2);
    expect(there.requests.length).toBeGreaterThanOrEqual(40);
    expectEmpty(at);
  });
});

describe('the client leaving', () => {
  const left = new GatewayError('client.left', 'the client left');

  test('before it began: nothing is sent', async () => {
    const there = await startHost(statuses(200));
    const at = provider(there.url);
    const lifetime = new Lifetime();
    lifetime.end(left);

    expect(await failureOf(forward([target(at)], lifetime))).toBe(left);
    expect(there.requests.length).toBe(0);
    expectEmpty(at);
  });

  test('while it is queued: it is never sent', async () => {
    const there = await startHost(() => undefined);
    const at = provider(there.url, { connections: 1 });
    const [one, two] = [new Lifetime(), new Lifetime()];
    const abandoned = exchangeWith(two);
    const first = failureOf(forward([target(at)], one));
    await there.reached(1);
    const second = failureOf(forward([target(at)], two, abandoned));

    two.end(left);
    expect(await second).toBe(left);
    one.end(left);
    await first;

    expect(there.requests.length).toBe(1);
    expect(abandoned.record.soFar.attempts).toBeUndefined();
    expectEmpty(at);
  });

  test('while the connection is being made: it is never sent', async () => {
    const there = await startHost(statuses(200));
    const at = provider(there.url);
    const lifetime = new Lifetime();
    const ended: unknown[] = [];
    const abandoned = exchangeWith(lifetime, { attemptEnded: (attempt) => ended.push(attempt) });
    const pending = failureOf(forward([target(at)], lifetime, abandoned));

    lifetime.end(left); // the dispatch has been made, the connection not yet
    expect(await pending).toBe(left);
    expect(ended).toMatchObject([{ kind: 'abandoned', wasSent: false, reason: left }]);
    expect(abandoned.record.soFar.attempts).toBe(1);
    await bodyOf(await forward([target(at)]));

    expect(there.requests.length).toBe(1);
    expectEmpty(at);
  });

  test.each([
    ['the head', () => undefined, ({ reached }: ScriptedHost) => reached(1)],
    // The refused answer was given up.
    ['its next try', statuses([429, { 'retry-after': '30' }]), ({ closed }: ScriptedHost) => closed(1)],
  ] as const)('while it waits for %s: the host sees the connection close', async (_name, script, waits) => {
    const there = await startHost(script);
    const at = provider(there.url, { breaker: { failures: 1, openMs: 60_000 } });
    const lifetime = new Lifetime();
    const pending = failureOf(forward([target(at)], lifetime));
    await waits(there);

    lifetime.end(left);

    expect(await pending).toBe(left);
    await there.closed(1);
    expect(there.requests.length).toBe(1);
    expect(at.health.isOpen('m')).toBe(false); // it does not count against the provider
    expectEmpty(at);
  });
});
