import { expect, test } from 'vitest';
import { ShortTexts } from '../../src/json/short-texts.ts';
import { parseStrictJson } from '../../src/json/strict-json.ts';

/** The texts of a list, as entries of one document. */
function entriesOf(texts: readonly string[]) {
  const document = parseStrictJson(Buffer.from(JSON.stringify({ x: texts })));
  return { document, entries: texts.map((_, at) => 3 + at) };
}

test('knows of a text what was kept of the same bytes, wherever they stand', () => {
  const short = new ShortTexts<number>();
  const { document, entries } = entriesOf(['type', 'text', 'type']);

  expect(short.get(document, entries[0] as number)).toBeUndefined();
  short.keep(document, entries[0] as number, 7);

  expect(short.get(document, entries[2] as number)).toBe(7);
  expect(short.get(document, entries[1] as number)).toBeUndefined();
});

test('knows the same text in a document too short to be read by the word', () => {
  const short = new ShortTexts<number>();
  const long = entriesOf(['abcdefg', 'x'.repeat(200)]);
  const tiny = entriesOf(['abcdefg']);

  short.get(long.document, 3);
  short.keep(long.document, 3, 1);

  expect(short.get(tiny.document, 3)).toBe(1);
});

test('never confuses any of thousands of texts', () => {
  const texts = Array.from({ length: 5_000 }, (_, at) => `k${at.toString(36)}`);
  texts.push('a', 'ab', 'abc', 'abcd', 'abcde', 'é', 'aé', '\u0001', 'a\u0001');
  const short = new ShortTexts<string>();
  const { document, entries } = entriesOf(texts);
  const read = (entry: number) =>
    short.get(document, entry) ?? short.keep(document, entry, document.text(entry));

  for (let round = 0; round < 2; round += 1) {
    expect(entries.map(read)).toEqual(texts);
  }
});
