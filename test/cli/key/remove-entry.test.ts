import { expect, test } from 'vitest';
import { removeMember } from '../../../src/cli/key/remove-entry.ts';

test.each([
  ['the last one in braces', '{ id: a, previous: [] }', '{ id: a }'],
  [
    'one in the middle',
    '{ id: a, previous: [{ hash: "x" }], limits: {} }   # ours',
    '{ id: a, limits: {} }   # ours',
  ],
  ['the first one', '{ previous: [], id: a }', '{ id: a }'],
  ['one on lines', 'id: a\n    previous:\n      - { hash: "x" }\n    limits: {}', 'id: a\n    limits: {}'],
  ['an empty one', 'id: a\n    previous:\n      []\n    limits: {}', 'id: a\n    limits: {}'],
  ['one that cannot go alone', 'previous:\n      []\n    id: a', undefined],
  ['one that there is not', '{ id: a }', undefined],
])('a member of an entry is removed, every other byte stays: %s', (_what, before, after) => {
  const file = (entry: string) => `keys:\n  - ${entry}\nx: 1\n`;

  expect(removeMember(file(before), ['keys', 0, 'previous'])).toBe(after && file(after));
});
