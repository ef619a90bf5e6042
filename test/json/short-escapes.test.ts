import { expect, test } from 'vitest';
import { shortEscapedText } from '../../src/json/short-escapes.ts';

const spellings = (unit: number): readonly string[] => {
  const hex = unit.toString(16).padStart(4, '0');
  return [`\\u${hex}`, `\\u${hex.toUpperCase()}`, `a\\u${hex}é\\n\\u${hex}`];
};
const decode = (json: string) => {
  const bytes = Buffer.from(json);
  return shortEscapedText(bytes, 0, bytes.length);
};

test('every unit in an escape is decoded as a JSON parser does', () => {
  const different: number[] = [];
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
    for (const json of spellings(unit)) {
      const expected = isSurrogate ? undefined : JSON.parse(`"${json}"`);
      if (decode(json) !== expected) different.push(unit);
    }
  }

  expect(different).toEqual([]);
});

test('a text of more than 128 bytes is left to the engine', () => {
  expect(decode('\\u0061'.repeat(21))).toBe('a'.repeat(21));
  expect(decode('\\u0061'.repeat(22))).toBeUndefined();
});
