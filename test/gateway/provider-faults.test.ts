import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { factsOf } from '../../src/client/call.ts';
import { pathFor, requestFor } from '../kit/answers.ts';
import { type BoundedAnswer, postBounded } from '../kit/bounded-client.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import { startFaultyHost } from '../kit/faulty-host.ts';
import { secrets, startGateway } from '../kit/gateway.ts';
import { deadUrl } from '../kit/listening.ts';
import { isExhaustive } from '../kit/scale.ts';
import { behaves, broken, cutLate, type Expected, type Fault, faultsOf, late } from './faults.ts';

// Whatever a provider does, each client hears of it in its own dialect and in time, memory stays bounded, the
// next request is fine, and the provider's key is in nothing that a client sees.

const faults = faultsOf(() => elsewhere.url);
const names = ['messages', 'chat', 'responses', 'gemini'] as const;
const pairs = names.flatMap((client) => names.map((provider) => ({ client, provider })));
type Pair = (typeof pairs)[number];
type Form = 'plain' | 'streamed';

const idleMs = 2_000;
const totalMs = 6_000;
// What a fault may take from request to end beyond its own time: the machine may be busy.
const slackMs = 10_000;
const memoryBytes = 160 * 1024 * 1024;

const [host, elsewhere] = await Promise.all([startFaultyHost(), startFaultyHost()]);
const timeouts = `timeouts: { connect: 10s, headers: ${idleMs}ms, idle: ${idleMs}ms, total: ${totalMs}ms }`;
const gateway = await startGateway(`
providers:
${providersAt(host.url, { more: timeouts })}
${providersAt(await deadUrl(), { suffix: '-gone', more: timeouts })}
models:
${modelsAt('at-')}
${modelsAt('at-', { suffix: '-gone' })}
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);

function ask({ client, provider }: Pair, form: Form, suffix = ''): Promise<BoundedAnswer> {
  const model = `at-${provider}${suffix}`;
  const isStream = form === 'streamed';
  const request = requestFor(client, model, isStream ? { stream: true } : {});
  return postBounded(gateway, pathFor(client, model, isStream), request);
}

const beginnings = {
  messages: /^event: error\ndata: \{/,
  chat: /^data: \{/,
  responses: /^event: error\ndata: \{/,
  gemini: /^\{"error"/,
};
const finals =
  /event: message_stop|\[DONE\]|event: response\.(?:completed|incomplete)|"finish_reason": ?"|finishReason/;

function check({ client, provider }: Pair, answer: BoundedAnswer, expected: Fault['streamed']): void {
  const label = `${client} client, ${provider} provider`;
  const { start, tail, isWhole } = answer;
  if (expected === 'the provider’s own error') {
    expect(tail, label).toContain('no, not with [secret]');
    expect(tail, label).not.toContain(secrets.PROVIDER_KEY);
    expect(tail, label).not.toMatch(finals);
    return;
  }
  const { status, reason } = expected;
  expect({ label, status: answer.status }).toEqual({ label, status });
  expect(start + tail + JSON.stringify(answer.headers), label).not.toContain(secrets.PROVIDER_KEY);
  if (status !== 200) {
    const { error } = JSON.parse(start) as { error: { message?: unknown } };
    expect(isWhole, label).toBe(true);
    expect(typeof error.message, label).toBe('string');
    if (reason !== undefined) expect({ label, ...factsOf(error) }).toMatchObject({ label, reason });
    else expect(answer.headers['retry-after'], label).toBe('3');
    return;
  }
  if (reason === undefined) {
    expect(isWhole, label).toBe(true);
    expect(tail, label).not.toMatch(/"error": ?\{/);
    return;
  }
  const last =
    tail
      .trimEnd()
      .split(/\r?\n\r?\n/)
      .at(-1) ?? '';
  expect(isWhole, label).toBe(false);
  expect(last, label).toContain(reason);
  expect(last, label).toMatch(beginnings[client]);
  if (expected.isPastFinish !== true || client !== provider) expect(tail, label).not.toMatch(finals);
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // what the flag adds to a new context

/** The most memory that was held beyond what had been, while something went on; garbage is collected before it counts. */
async function peakOf<T>(work: () => Promise<T>): Promise<{ value: T; peakBytes: number }> {
  const used = () => process.memoryUsage().external + process.memoryUsage().heapUsed;
  collectGarbage();
  const before = used();
  let peak = before;
  const timer = setInterval(() => {
    if (used() <= peak) return;
    collectGarbage();
    peak = Math.max(peak, used());
  }, 100);
  try {
    return { value: await work(), peakBytes: peak - before };
  } finally {
    clearInterval(timer);
  }
}

async function askAll(fault: Fault, form: Form): Promise<readonly BoundedAnswer[]> {
  if (fault.isHeavy !== true) return Promise.all(chosen(fault).map((pair) => ask(pair, form)));
  const answers: BoundedAnswer[] = [];
  for (const pair of chosen(fault)) answers.push(await ask(pair, form));
  return answers;
}

/** Every dialect at both ends, or all sixteen; two of what takes much memory. */
function chosen({ isHeavy }: Fault): readonly Pair[] {
  if (isHeavy !== true && isExhaustive) return pairs;
  const some = isHeavy === true ? [0, 6] : [0, 1, 6, 11, 12];
  return pairs.filter((_pair, i) => some.includes(i));
}

/** Who asks after a fault: each provider is asked again once, or only one of them. */
const later = pairs.filter(({ client, provider }) => client === provider).slice(0, isExhaustive ? 4 : 1);

function isLate({ mayBeLate }: Fault, { status, tail }: BoundedAnswer): boolean {
  return mayBeLate === true && (status === 504 || tail.includes('provider.timeout'));
}

function lateForm(expected: Fault['streamed']): Expected {
  return expected === broken ? late : cutLate;
}

describe.each(['plain', 'streamed'] as const)('%s: a provider that', (form) => {
  test.each(faults.filter(({ isHeavy, isSlow }) => isExhaustive || (isHeavy ?? isSlow) !== true))(
    '$name',
    async (fault) => {
      host.does(fault.does);

      const askForAll = () => askAll(fault, form);
      // Collecting garbage all the time takes much of a processor.
      const { value: answers, peakBytes } =
        fault.isHeavy === true ? await peakOf(askForAll) : { value: await askForAll(), peakBytes: 0 };

      for (const [i, pair] of chosen(fault).entries()) {
        const answer = answers[i];
        if (answer === undefined) throw new Error('an answer is missing');
        const isUnmarked = form === 'streamed' && pair.provider === 'gemini';
        const expected = (isUnmarked ? fault.unmarked : undefined) ?? fault[form];
        check(pair, answer, isLate(fault, answer) ? lateForm(expected) : expected);
      }
      const slowestMs = Math.round(Math.max(...answers.map(({ elapsedMs }) => elapsedMs)));
      expect(slowestMs).toBeLessThan(totalMs + slackMs);
      expect(peakBytes).toBeLessThan(memoryBytes);

      host.does(behaves);
      const next = await Promise.all(later.map((pair) => ask(pair, form)));
      expect(next.map(({ status, isWhole }) => ({ status, isWhole }))).toEqual(
        later.map(() => ({ status: 200, isWhole: true })),
      );
    },
    60_000,
  );

  test('is not there', async () => {
    const answers = await Promise.all(pairs.map((pair) => ask(pair, form, '-gone')));

    for (const [i, pair] of pairs.entries()) {
      const answer = answers[i];
      if (answer === undefined) throw new Error('an answer is missing');
      check(pair, answer, { status: 502, reason: 'provider.unreachable' });
    }
  });
});

test('no redirect was followed', () => {
  expect(elsewhere.requests()).toBe(0);
});

test('no record contains the provider’s key', () => {
  expect(JSON.stringify(gateway.records)).not.toContain(secrets.PROVIDER_KEY);
});
