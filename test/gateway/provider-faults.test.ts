import { describe, expect, test } from 'vitest';
import { errorDetails } from '../../src/client/call.ts';
import { isText } from '../../src/dialects/dialect.ts';
import { dialects } from '../../src/dialects/registry.ts';
import { requestFor } from '../kit/answers.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import { startFaultyHost } from '../kit/faulty-host.ts';
import {
  allPairs,
  allProviders,
  askedAt,
  type ClientForm,
  clientForms,
  createTally,
  type ProviderForm,
  providerForms,
} from '../kit/forms.ts';
import { secrets, startGateway } from '../kit/gateway.ts';
import { deadUrl } from '../kit/listening.ts';
import { postRaw, type RawAnswer } from '../kit/raw.ts';
import { isExhaustive } from '../kit/scale.ts';
import { behaves, type Fault, faultsOf } from './faults.ts';

// Whatever a provider does, each client hears of it in its own dialect and in time, the next request is
// fine, and the provider's key is in nothing that a client sees.

const faults = faultsOf(() => elsewhere.url);
const tally = createTally('faults');
interface Pair {
  readonly client: ClientForm;
  readonly provider: ProviderForm;
}
const pairs = allPairs.map(([client, provider]): Pair => ({ client, provider }));
type Form = 'plain' | 'streamed';
/** Embeddings have no streams, and an array is one. */
const isOf = (form: Form, { client }: Pair) =>
  client === 'gemini_array' ? form === 'streamed' : form === 'plain' || isText(dialects[clientForms[client]]);

const idleMs = 2_000;
const totalMs = 6_000;
// What a fault may take from request to end beyond its own time: the machine may be busy.
const slackMs = 10_000;

const [host, elsewhere] = await Promise.all([startFaultyHost(), startFaultyHost()]);
const timeouts = `timeouts: { connect: 10s, headers: ${idleMs}ms, idle: ${idleMs}ms, total: ${totalMs}ms }`;
const gateway = await startGateway(`
providers:
${providersAt(host.url, { more: timeouts, names: allProviders })}
${providersAt(await deadUrl(), { suffix: '-gone', more: timeouts, names: allProviders })}
models:
${modelsAt('at-', { names: allProviders })}
${modelsAt('at-', { suffix: '-gone', names: allProviders })}
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);

function ask({ client, provider }: Pair, form: Form, suffix = ''): Promise<RawAnswer> {
  const model = `at-${provider}${suffix}`;
  const isStream = form === 'streamed';
  const request = requestFor(clientForms[client], model, isStream ? { stream: true } : {});
  return postRaw(gateway, askedAt(client, model, isStream), request);
}

const beginnings = {
  messages: /^event: error\ndata: \{/,
  chat: /^data: \{/,
  responses: /^event: error\ndata: \{/,
  gemini: /^\{"error"/,
  gemini_array: /^(?:,\n|\[)\{"error"/,
};
const finals =
  /event: message_stop|\[DONE\]|event: response\.(?:completed|incomplete)|"finish_reason": ?"|finishReason/;

function check({ client, provider }: Pair, answer: RawAnswer, expected: Fault['streamed']): void {
  const label = `${client} client, ${provider} provider`;
  const { isWhole } = answer;
  const text = answer.body.toString();
  if (expected === 'the provider’s own error') {
    expect(text, label).toContain('no, not with [secret]');
    expect(text, label).not.toContain(secrets.PROVIDER_KEY);
    expect(text, label).not.toMatch(finals);
    return;
  }
  const { status, reason } = expected;
  expect({ label, status: answer.status }).toEqual({ label, status });
  expect(text + JSON.stringify([...answer.headers]), label).not.toContain(secrets.PROVIDER_KEY);
  if (status !== 200) {
    const { error } = JSON.parse(text) as { error: { message?: unknown } };
    expect(isWhole, label).toBe(true);
    expect(typeof error.message, label).toBe('string');
    if (reason !== undefined) expect({ label, ...errorDetails(error) }).toMatchObject({ label, reason });
    else expect(answer.headers.get('retry-after'), label).toEqual(['3']);
    return;
  }
  if (reason === undefined) {
    expect(isWhole, label).toBe(true);
    expect(text, label).not.toMatch(/"error": ?\{/);
    return;
  }
  // The elements of an array are told apart by their beginnings.
  const pieces = client === 'gemini_array' ? text.split(/(?=,\n\{)/) : text.trimEnd().split(/\r?\n\r?\n/);
  const last = pieces.at(-1) ?? '';
  expect(isWhole, label).toBe(false);
  expect(last, label).toContain(reason);
  expect(last, label).toMatch(beginnings[client as keyof typeof beginnings]);
  const isTranslated = clientForms[client] !== providerForms[provider];
  if (expected.isPastFinish !== true || isTranslated) expect(text, label).not.toMatch(finals);
}

/** Each form at both ends, or all pairs. */
const chosen = (form: Form) => {
  const all = pairs.filter((pair) => isOf(form, pair));
  return isExhaustive ? all : all.filter(({ client, provider }, i) => i % 6 === 0 || client === provider);
};

/** Who asks after a fault: each provider is asked again once, or only one of them. */
const later = pairs.filter(({ client, provider }) => client === provider).slice(0, isExhaustive ? 4 : 1);

describe.each(['plain', 'streamed'] as const)('%s: a provider that', (form) => {
  test.each(faults.filter(({ isSlow }) => isExhaustive || isSlow !== true))(
    '$name',
    async (fault) => {
      host.does(fault.does);

      const startedAt = performance.now();
      const asked = chosen(form);
      const answers = await Promise.all(asked.map((pair) => ask(pair, form)));
      const slowestMs = Math.round(performance.now() - startedAt);

      for (const [i, answer] of answers.entries()) {
        const pair = asked[i] as Pair;
        const isUnmarked = form === 'streamed' && providerForms[pair.provider] === 'gemini';
        tally.add(pair.client, pair.provider);
        check(pair, answer, (isUnmarked ? fault.unmarked : undefined) ?? fault[form]);
      }
      expect(slowestMs).toBeLessThan(totalMs + slackMs);

      host.does(behaves);
      const next = await Promise.all(later.map((pair) => ask(pair, form)));
      expect(next.map(({ status, isWhole }) => ({ status, isWhole }))).toEqual(
        later.map(() => ({ status: 200, isWhole: true })),
      );
    },
    60_000,
  );

  test('is not there', async () => {
    const asked = pairs.filter((pair) => isOf(form, pair));
    const answers = await Promise.all(asked.map((pair) => ask(pair, form, '-gone')));

    for (const [i, answer] of answers.entries()) {
      check(asked[i] as Pair, answer, { status: 502, reason: 'provider.unreachable' });
    }
  });
});

test('no redirect was followed', () => {
  expect(elsewhere.requests()).toBe(0);
});

test('no record contains the provider’s key', () => {
  expect(JSON.stringify(gateway.records)).not.toContain(secrets.PROVIDER_KEY);
});

test('every form has had cases', () => {
  expect(tally.wrong()).toEqual([]);
});
