import { expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { Scrubber } from '../../../src/gateway/scrub.ts';
import {
  answerMadeUp,
  decideMadeUp,
  madeUpIn,
  type Way,
  waysThrough,
} from '../../../src/gateway/warm-up/made-up-exchange.ts';
import { warmUp } from '../../../src/gateway/warm-up/warm-up.ts';
import { unhurried } from '../../../src/policy/checkpoint.ts';
import { compilePolicies } from '../../../src/policy/compile.ts';
import { policySchema } from '../../../src/policy/rules/schema.ts';

const scrubber = new Scrubber([]);
const everyProvider = Object.keys(dialects).map(
  (name) => ({ endpoints: new Set([name]), credentials: 'api_key' }) as const,
);
const nameOf = ({ endpoint, to }: Way) => `${endpoint.dialectName} to ${to}`;

/** As `gateway init` writes it. */
const masking = {
  rules: [
    {
      id: 'secrets',
      action: 'mask',
      reason: 'content.secret',
      when: { text: { detect: [{ secrets: 'possible' }, 'private_key'] } },
    },
  ],
};

const policiesOf = (policy: unknown) =>
  compilePolicies({ house: policySchema.parse(policy) }, ['sk-provider-0123456789'], {
    maskSecret: 'of this test, and long enough to be one',
  }).select(['house']);

test('every dialect is warmed by itself, and every pair that can be translated', () => {
  const ways = waysThrough(everyProvider).map(nameOf);

  expect(new Set(ways).size).toBe(ways.length);
  for (const name of Object.keys(dialects)) expect(ways).toContain(`${name} to ${name}`);
  expect(waysThrough(everyProvider.slice(0, 2)).map(nameOf)).toEqual([
    'messages to messages',
    'chat to chat',
    'messages to chat',
    'chat to messages',
    'responses to messages',
    'responses to chat',
    'gemini to messages',
    'gemini to chat',
  ]);
});

// What fails is left out without a word when it is warmed, so it has to fail here.
test.each(waysThrough(everyProvider).map((way) => [nameOf(way), way] as const))(
  'what is made up passes from %s: as it is, masked and as an answer',
  (_name, way) => {
    const policies = policiesOf(masking);

    const decide = (hasMatch: boolean) => {
      const body = madeUpIn(way.endpoint.dialectName, hasMatch);
      return decideMadeUp(way, policies, { body, checkpoint: unhurried });
    };
    const plain = decide(false);
    const matching = decide(true);

    expect(plain.decision.action).toBe('allow');
    expect(matching.decision.action).toBe('mask');
    expect(matching.decision.masked?.size).toBe(1);
    expect(matching.translation === undefined).toBe(way.endpoint.dialectName === way.to);
    answerMadeUp(way, matching, { policies, scrubber, checkpoint: unhurried });
  },
);

test('nothing is done while somebody waits, nor when it is in vain', async () => {
  const policies = policiesOf(masking);
  const compiled: string[] = [];
  const watched = Object.assign(Object.create(policies), { compile: () => compiled.push('compiled') });
  const parts = { policySets: [watched], providers: [], scrubber };
  let open = 3;

  await warmUp(parts, { isBusy: () => false, isOver: () => true });
  expect(compiled).toEqual([]);
  await warmUp(parts, {
    isBusy: () => {
      if (open > 0) expect(compiled).toEqual([]);
      open -= 1;
      return open > 0;
    },
    isOver: () => false,
  });
  expect(compiled).toEqual(['compiled']);
});

test('policies that search for the same share what they search with', () => {
  const { select } = compilePolicies(
    {
      one: policySchema.parse(masking),
      other: policySchema.parse({
        rules: [{ id: 'a', action: 'block', when: { max_output_tokens: { over: 9 } } }],
      }),
    },
    [],
    { maskSecret: 'of this test, and long enough to be one' },
  );
  const subject = { standsForAny: true } as never;
  const patternOf = (names: string[]) => select(names).inputs(subject).pattern(0);

  expect(patternOf(['one'])).toBe(patternOf(['one', 'other']));
});
