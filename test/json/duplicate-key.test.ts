import { describe, expect, test } from 'vitest';
import { parseStrictJson } from '../../src/json/strict-json.ts';

const bodyOf = (keys: readonly string[]) =>
  Buffer.from(`{${keys.map((key) => `${JSON.stringify(key)}:1`).join()}}`);
const plain = Array.from({ length: 1000 }, (_, at) => `key ${at}`);

describe('keys without escapes, more than are compared in pairs', () => {
  test('are accepted if each occurs once', () => {
    expect(parseStrictJson(bodyOf(plain)).count).toBe(2001);
  });

  test.each([0, 1, 500, 999])('are refused where one stands again behind all others: key %i', (at) => {
    const body = bodyOf([...plain, `key ${at}`]);

    expect(() => parseStrictJson(body)).toThrow('a key is used twice');
  });

  test('are distinguished by their last character, their length and their case', () => {
    const keys = plain.flatMap((key) => [key, `${key} `, key.toUpperCase(), `${key}ü`]);

    expect(parseStrictJson(bodyOf(keys)).count).toBe(8001);
  });
});
