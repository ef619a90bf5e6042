import { describe, expect, test } from 'vitest';
import { post, startClients } from './clients.ts';

const { openai, url } = await startClients();
const model = 'sandbox-embed';

async function embed(input: string[]): Promise<number[][]> {
  const { data } = await openai.embeddings.create({ model, input });
  return data.map(({ embedding }) => embedding);
}

function product(first: readonly number[] = [], second: readonly number[] = []): number {
  return first.reduce((sum, value, i) => sum + value * (second[i] ?? 0), 0);
}

describe('vectors', () => {
  test('have 256 numbers and the length 1', async () => {
    const vectors = await embed(['hello world', '...', 'ж', '🌍']);

    expect(vectors.map((vector) => vector.length)).toEqual([256, 256, 256, 256]);
    for (const vector of vectors) expect(product(vector, vector)).toBeCloseTo(1, 5);
  });

  test('are the same for the same text and differ for others', async () => {
    const [first, second, other] = await embed(['red roses', 'red roses', 'blue whales']);

    expect(second).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test('are nearer for texts that share words', async () => {
    const [base, near, far] = await embed([
      'how do I water my roses in summer',
      'watering roses during a dry summer',
      'the invoice number is printed on page two',
    ]);

    expect(product(base, near)).toBeGreaterThan(product(base, far) + 0.2);
  });

  test.each([1, 8, 1536])('have %i numbers when asked', async (dimensions) => {
    const { data } = await openai.embeddings.create({ model, input: 'hello', dimensions });

    expect(data[0]?.embedding).toHaveLength(dimensions);
    expect(product(data[0]?.embedding, data[0]?.embedding)).toBeCloseTo(1, 5);
  });
});

test('floats, and base64, which the SDK asks for, carry the same numbers', async () => {
  const { text } = await post(`${url}/v1/embeddings`, { model, input: 'hi', encoding_format: 'float' });

  expect(await embed(['hi'])).toEqual([JSON.parse(text).data[0].embedding]);
});

test('accepts lists of tokens, single and several', async () => {
  const one = await openai.embeddings.create({ model, input: [1, 2, 3] });
  const two = await openai.embeddings.create({ model, input: [[1, 2, 3], [4]] });

  expect(one.data).toHaveLength(1);
  expect(two.data.map(({ index }) => index)).toEqual([0, 1]);
  expect(two.data[0]?.embedding).toEqual(one.data[0]?.embedding);
  expect(two.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
});

describe('errors', () => {
  test.each([
    ['no input', { input: undefined }, 400, 'input'],
    ['an empty text in a list', { input: ['a', ''] }, 400, 'input'],
    ['a mixed list', { input: ['a', 1] }, 400, 'input'],
    ['no dimensions', { dimensions: 0 }, 400, 'dimensions'],
    ['a model that writes text', { model: 'sandbox-mini' }, 404, 'model'],
    ['an unknown model', { model: 'sandbox-x' }, 404, 'model'],
    ['a failing model', { model: 'sandbox-error-503' }, 503, null],
  ])('%s', async (_name, change, status, param) => {
    const answer = await post(`${url}/v1/embeddings`, { model, input: 'hi', ...change });

    expect([answer.status, JSON.parse(answer.text).error.param]).toEqual([status, param]);
  });
});
