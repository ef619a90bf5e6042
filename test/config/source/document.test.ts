import { expect, test } from 'vitest';
import { parseSource } from '../../../src/config/source/document.ts';

test.each(
  // biome-ignore format: a case a line
  [
    ['a second document', 'server: {}\n---\nserver: {}\n', 'a second document begins here: a configuration is a single one, without further lines of ---', 2],
    ['a merge', 'a: &a { b: 1 }\nc:\n  <<: *a\n', '<< does not merge here: write the settings out, or use an alias for a whole value', 3],
    ['a repeated key', 'server:\n  port: 1\n  host: x\n  port: 2\n', 'this key is already on line 2', 4],
  ],
)('%s is a problem with its place', (_name, text, message, line) => {
  expect(parseSource(text).problems).toMatchObject([{ severity: 'error', message, place: { line } }]);
});
