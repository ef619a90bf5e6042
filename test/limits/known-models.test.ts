import { describe, expect, test } from 'vitest';
import known from '../../src/limits/known-models.json' with { type: 'json' };
import { knownModel, knownModelFinder, knownModelNames, listPrice } from '../../src/limits/known-models.ts';
import { costOf, worstCostOf } from '../../src/limits/price.ts';

test.each([
  'claude-sonnet-4-5',
  'claude-sonnet-4-5-20250929',
  'claude-sonnet-4-5@20250929',
  'anthropic/claude-sonnet-4-5',
  'anthropic.claude-sonnet-4-5-20250929-v1:0',
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'publishers/anthropic/models/claude-sonnet-4-5@20250929',
  'claude-sonnet-4-5@default',
  'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'arn:aws:bedrock:eu-west-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0',
])('%s has the price of its model', (name) => {
  expect(knownModel(name)).toMatchObject({ price: { input: 3, output: 15 }, maxOutputTokens: 64_000 });
});

test.each(['gpt-4.1-2025-04-14', 'openai/gpt-4.1'])('%s has the price of its model', (name) => {
  expect(knownModel(name)?.price).toMatchObject({ input: 2, output: 8, cacheRead: 0.5 });
});

test.each([
  ['gpt-4o-2024-05-13', 'it is a version that nobody has listed'],
  ['gpt-4.1-2025-04-15', 'it is a version that nobody has listed'],
  ['claude-sonnet-4-5-latest', 'it is a version that nobody has listed'],
  ['claude-sonnet-5-20260101', 'it is a version that nobody has listed'],
  ['gpt-4.1-2025-04-14-v1:0-2025-04-14', 'it is a version that nobody has listed'],
  ['claude-sonnet-4-5@20990101', 'it is a version that nobody has listed'],
  ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'its region costs something else'],
  [
    'arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0',
    'its region costs something else',
  ],
  ['mars.anthropic.claude-sonnet-4-5-20250929-v1:0', 'there is no such region'],
  [
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/claude-sonnet-4-5',
    'what it costs is not in its name',
  ],
  [
    'arn:aws:bedrock:us-east-1:123456789012:provisioned-model/claude-sonnet-4-5',
    'what it costs is not in its name',
  ],
  ['gpt-4.1-v1:0', 'its version is of another host'],
  ['claude-sonnet-4-5-v1', 'its version is of another host'],
  ['gpt-4.1-turbo', 'a name that is only like another is another model'],
  ['my-gpt-4.1', 'a name that is only like another is another model'],
  ['claude', 'a name that is only like another is another model'],
  ['other/gpt-4.1', 'a name that is only like another is another model'],
  ['', 'it is no name'],
])('%s has no price: %s', (name) => {
  expect(knownModel(name)).toBeUndefined();
});

const nowMs = Date.parse('2026-11-27T00:00:00Z');

test.each([
  ['claude-sonnet-4-5', false, 3],
  ['claude-sonnet-4-5@20250929', true, 3.3],
  ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', false, 3],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', false, 3.3],
  ['anthropic.claude-sonnet-4-5-20250929-v1:0', false, 3.3],
  ['arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0', false, 3.3],
  ['us.anthropic.claude-opus-4-1-20250805-v1:0', false, 15],
  ['gemini-2.5-pro', true, 1.25],
  ['gpt-5.4', true, 2.75],
  ['gpt-5.4', false, 2.5],
  ['gpt-5.2', true, 1.75],
])('%s with isRegional %s costs %s', (name, isRegional, input) => {
  expect(listPrice(knownModel(name), { name, isRegional, nowMs })?.input).toBe(input);
});

test('a price that is lowered until a day is the usual one from the next day on', () => {
  const name = 'gemini-3.8-flash';
  const at = (time: string) =>
    listPrice(knownModel(name), { name, isRegional: false, nowMs: Date.parse(time) });

  expect(at('2026-12-31T23:59:59Z')).toMatchObject({ input: 0.75, output: 3.75, cacheRead: 0.075 });
  expect(at('2027-01-01T00:00:00Z')).toMatchObject({ input: 1.5, output: 7.5, cacheRead: 0.15 });
});

test.each(['gemini-2.5-pro', 'google/gemini-2.5-pro', 'models/gemini-2.5-pro'])(
  '%s has its price for long prompts, and what Google takes for searches',
  (name) => {
    expect(knownModel(name)).toMatchObject({
      contextWindow: 1_048_576,
      price: {
        input: 1.25,
        output: 10,
        searches: 35,
        longPrompt: { aboveTokens: 200_000, input: 2.5, output: 15 },
      },
    });
  },
);

test('no price is missing, below zero, or dearer to read from a cache than to send', () => {
  for (const name of knownModelNames) {
    const { price, maxOutputTokens } = knownModel(name) ?? {};
    if (price === undefined) throw new Error(`${name} has no price`);
    for (const each of [price.input, price.cacheRead, price.cacheWrite])
      expect(each, name).toBeGreaterThan(0);
    expect(price.output, name).toBeGreaterThanOrEqual(/^text-|embedding/.test(name) ? 0 : price.input);
    expect(price.cacheRead, name).toBeLessThanOrEqual(price.input);
    expect(price.cacheWrite, name).toBeGreaterThanOrEqual(price.input);
    expect(maxOutputTokens, name).toBeGreaterThanOrEqual(0);
  }
  expect(knownModelNames).toHaveLength(new Set(knownModelNames).size);
});

test('a long prompt costs more for the whole request, reserved and settled alike', () => {
  const price = knownModel('claude-haiku-5-5')?.price ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const usage = { inputTokens: 100_000, outputTokens: 1_000, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const whole = { ...usage, reasoningTokens: 0 };

  expect(costOf(whole, price)).toBe(10_500_000);
  expect(costOf({ ...whole, inputTokens: 100_001 }, price)).toBe(52_500_500);
  expect(worstCostOf({ input: 100_001, output: 1_000 }, price)).toBe(102_501_000);
});

test("an hour in Anthropic's cache costs twice the input, for a long prompt too", () => {
  const { price } = knownModel('claude-haiku-5-5') ?? {};
  if (price === undefined) throw new Error('no price');
  const written = (tokens: number) => ({
    inputTokens: tokens,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: tokens,
    longCacheWriteTokens: tokens,
    reasoningTokens: 0,
  });

  expect(costOf(written(100_000), price)).toBe(20_000_000);
  expect(costOf(written(200_000), price)).toBe(200_000_000);
});

test('each price says where it is from, and of which day', () => {
  const sources: Readonly<Record<string, string>> = known.sources;

  expect(known.models.filter(({ source }) => sources[source] === undefined)).toEqual([]);
  for (const source of Object.values(sources)) expect(source).toMatch(/2026-\d\d-\d\d|October 2026/);
});

describe('a model of a table that was taken over', () => {
  const models = {
    'new-1': { input: 1, output: 2 },
    'claude-new-9': { input: 10, output: 20 },
    'claude-sonnet-4-5': { input: 4, output: 16, cache_read: 0.4, cache_write: 5 },
  };
  const find = knownModelFinder({ source: 'a file', retrieved: '2026-11-29', models });

  test('is found by its exact name, before what is built in', () => {
    expect(find('new-1')?.price).toMatchObject({ input: 1, output: 2, cacheRead: 1, cacheWrite: 1 });
    expect(find('new-1-mini')).toBeUndefined();
    expect(find('new')).toBeUndefined();
    expect(find('claude-sonnet-4-5')?.price).toMatchObject({ input: 4, cacheRead: 0.4, longCacheWrite: 8 });
    expect(find('claude-sonnet-4-5-20250929')?.price.input).toBe(4);
    expect(find('gpt-4o')).toBe(knownModel('gpt-4o'));
  });

  test('keeps what the table does not say, and costs the most that is known at an endpoint of a region', () => {
    const sonnet = find('claude-sonnet-4-5');
    const at = (name: string) => listPrice(find(name), { name, isRegional: true, nowMs })?.input;

    expect(sonnet).toMatchObject({
      maxOutputTokens: knownModel('claude-sonnet-4-5')?.maxOutputTokens,
      contextWindow: knownModel('claude-sonnet-4-5')?.contextWindow,
    });
    expect(at('claude-sonnet-4-5')).toBe(4.4);
    expect(at('new-1')).toBe(1.1);
    expect(find('claude-new-9')).toMatchObject({ imageTokens: 4_784, price: { longCacheWrite: 20 } });
  });
});
