import { expect, test } from 'vitest';
import { page } from '../../../src/gateway/local-endpoints/answer-locally.ts';

const entries = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id }));

function ids(query: string): { readonly ids: string; readonly more: boolean; readonly ends: string } {
  const { object, data, has_more, first_id, last_id } = page(entries, new URLSearchParams(query));
  expect(object).toBe('list');
  return { ids: data.map(({ id }) => id).join(''), more: has_more, ends: `${first_id}${last_id}` };
}

test.each([
  ['', 'abcde', false],
  ['limit=1000', 'abcde', false],
  ['limit=5', 'abcde', false],
  ['limit=2', 'ab', true],
  ['limit=2&after_id=b', 'cd', true],
  ['limit=2&after_id=d', 'e', false],
  ['limit=2&before_id=e', 'cd', true],
  ['limit=3&before_id=c', 'ab', false],
  ['after_id=nobody', 'abcde', false],
  ['after_id=a&before_id=e', 'bcd', false],
  ['unknown=1', 'abcde', false],
])('the page of %j is %s', (query, expected, more) => {
  expect(ids(query)).toEqual({ ids: expected, more, ends: `${expected[0]}${expected.at(-1)}` });
});

test('an empty page has no ends', () => {
  expect(page(entries, new URLSearchParams('after_id=e'))).toEqual({
    object: 'list',
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  });
});

test.each(['0', '-1', '1.5', 'ten', '', '1e99'])('a limit of %j is refused', (limit) => {
  expect(() => page(entries, new URLSearchParams({ limit }))).toThrow(
    expect.objectContaining({ code: 'request.field', param: 'limit' }),
  );
});
