import { describe, expect, test } from 'vitest';
import { readModelTable } from '../../../src/config/source/model-table.ts';

const read = (table: unknown) =>
  readModelTable(Buffer.from(typeof table === 'string' ? table : JSON.stringify(table)), 'prices.json');
const own = (models: object) => read({ models });

describe('a table', () => {
  test("of the gateway's form is read in US$ per million tokens", () => {
    const line = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, context_window: 200_000 };
    const long_prompt = { above_tokens: 100_000, input: 6, output: 22.5 };

    const { models, rejected } = own({ plain: { input: 1, output: 2 }, all: { ...line, long_prompt } });

    expect(models).toEqual({ plain: { input: 1, output: 2 }, all: { ...line, long_prompt } });
    expect(rejected).toEqual([]);
  });

  test("of LiteLLM's form is read in US$ per token, without what is billed by something else", () => {
    const { models, rejected } = read({
      sample_spec: { mode: 'one of: chat', input_cost_per_token: 0, max_input_tokens: 'the most' },
      'vendor/coder-1': {
        mode: 'chat',
        litellm_provider: 'vendor',
        input_cost_per_token: 3e-7,
        output_cost_per_token: 1.2e-6,
        cache_read_input_token_cost: 3e-8,
        cache_creation_input_token_cost: 3.75e-7,
        cache_creation_input_token_cost_above_1hr: 6e-7,
        max_input_tokens: 262_144,
        max_output_tokens: 65_536,
        max_tokens: 65_536,
      },
      'long-1': {
        mode: 'responses',
        input_cost_per_token: 1e-6,
        output_cost_per_token: 4e-6,
        input_cost_per_token_above_128k_tokens: 2e-6,
        output_cost_per_token_above_256k_tokens: 9e-6,
        input_cost_per_token_above_256k_tokens: 3e-6,
        max_input_tokens: 'unknown',
      },
      'embed-1': { mode: 'embedding', input_cost_per_token: 2e-8, output_cost_per_token: 0 },
      'painter-1': { mode: 'image_generation', output_cost_per_image: 0.04 },
    });

    expect(models).toEqual({
      'vendor/coder-1': {
        ...{ input: 0.3, output: 1.2, cache_read: 0.03, cache_write: 0.375, cache_write_1h: 0.6 },
        ...{ context_window: 262_144, max_output_tokens: 65_536 },
      },
      'long-1': {
        ...{ input: 1, output: 4 },
        long_prompt: { above_tokens: 128_000, input: 3, output: 9 },
      },
      'embed-1': { input: 0.02, output: 0 },
    });
    expect(rejected).toEqual([]);
  });

  // biome-ignore format: a case a line
  test.each([
    ['chat', { output_cost_per_token: 0 }, 'output costs nothing'],
    ['completion', { output_cost_per_token: 0 }, 'output costs nothing'],
    ['responses', { output_cost_per_token: 0 }, 'output costs nothing'],
    ['chat', { output_cost_per_token: 1e-6, input_cost_per_token_above_128k_tokens: 2e-6, output_cost_per_token_above_128k_tokens: 0 }, undefined],
    ['embedding', { output_cost_per_token: 0 }, undefined],
  ])("of LiteLLM's form may have no free output: %s %j", (mode, costs, why) => {
    const good = { mode: 'chat', input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 };
    const { models, rejected } = read({ good, m: { mode, input_cost_per_token: 1e-6, ...costs } });

    expect(rejected).toEqual(why === undefined ? [] : [{ name: 'm', why }]);
    expect(models.m?.long_prompt?.output).not.toBe(0);
  });

  test("of LiteLLM's form has no free cache, which then costs as input; what stands in ours is meant", () => {
    const line = { mode: 'chat', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 };
    const caches = {
      cache_read_input_token_cost: 0,
      cache_creation_input_token_cost: 0,
      cache_creation_input_token_cost_above_1hr: 0,
    };
    const free = { input: 1, output: 0, cache_read: 0 };

    expect(read({ m: { ...line, ...caches } }).models).toEqual({ m: { input: 1, output: 2 } });
    expect(own({ m: free }).models).toEqual({ m: free });
  });

  // biome-ignore format: a case a line
  test.each([
    [{ output: 1 }, 'input is missing, or no number'],
    [{ input: 1 }, 'output is missing, or no number'],
    [{ input: '1', output: 1 }, 'input is missing, or no number'],
    [{ input: -1, output: 1 }, 'input is negative'],
    [{ input: 1, output: -0.1 }, 'output is negative'],
    [{ input: 1, output: 1, cache_write: -1 }, 'cache_write is negative'],
    [{ input: 3_000_000, output: 1 }, 'input is above US$ 5000 for a million tokens'],
    [{ input: 0, output: 0 }, 'input costs nothing'],
    [{ input: 1, output: 2, cache_read: 1.1 }, 'cache_read costs more than input'],
    [{ input: 1, output: 2, context_window: 1.5 }, 'context_window is no number of tokens'],
    [{ input: 1, output: 2, max_output_tokens: -5 }, 'max_output_tokens is no number of tokens'],
    [{ input: 1, output: 2, long_prompt: { input: 1, output: 1 } }, 'long_prompt: above_tokens is no number of tokens'],
    [{ input: 1, output: 2, long_prompt: { above_tokens: 9, input: -1, output: 1 } }, 'long_prompt: input is negative'],
    [null, 'input is missing, or no number'],
    [[1, 2], 'input is missing, or no number'],
  ])('leaves out %j', (line, why) => {
    expect(own({ good: { input: 1, output: 2 }, bad: line })).toEqual({
      models: { good: { input: 1, output: 2 } },
      rejected: [{ name: 'bad', why }],
    });
  });

  test('leaves out a name that no model has', () => {
    const line = { input: 1, output: 2 };

    const { models, rejected } = own({
      good: line,
      'b ad': line,
      bäd: line,
      '': line,
      ['x'.repeat(201)]: line,
    });

    expect(Object.keys(models)).toEqual(['good']);
    expect(rejected).toHaveLength(4);
  });

  test.each([
    ['no JSON', 'models: {}', /is not a table of models/],
    ['a list', '[]', /is not a table of models/],
    ['a name twice', '{"models":{"m":{"input":1,"output":2},"m":{"input":9,"output":9}}}', /m/],
    ['a member twice', '{"models":{"m":{"input":1,"input":2,"output":2}}}', /is not a table of models/],
    ['no model', '{"models":{}}', /has no model with a price/],
    ['a page of another kind', '{"message":"Not Found"}', /has no model with a price/],
    ['only what makes no sense', '{"models":{"m":{"input":-1,"output":2}}}', /m: input is negative/],
  ])('with %s is refused', (_what, text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});
