import { expect, test } from 'vitest';
import { fromLineStart } from '../../src/record/line-file.ts';

test.each([
  ['nothing', 0, 'one\ntwo\n'],
  ['whole lines', 4, 'two\n'],
  ['everything', 8, ''],
  ['a part of the first line', 2, '\none\ntwo\n'],
  ['a part of a later line', 6, '\ntwo\n'],
])('after %s was written, what follows begins with a line', (_name, written, left) => {
  expect(fromLineStart(Buffer.from('one\ntwo\n'), written).toString()).toBe(left);
});

test('a line that is cut twice does not grow', () => {
  const once = fromLineStart(Buffer.from('one\n'), 2);

  expect(fromLineStart(once, 3).toString()).toBe('\none\n');
});
