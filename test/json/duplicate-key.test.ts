import { describe, expect, test } from 'vitest';
import { parseStrictJson } from '../../src/json/strict-json.ts';

/** The table's hash, which is no secret: whoever writes a body can have keys meet in one slot. */
function hashOf(text: string, before: number): number {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** Two texts that lead from one hash to the same other one. */
function collide(before: number): { readonly pair: readonly [string, string]; readonly after: number } {
  // Scattered, since texts that follow each other hardly meet.
  const textOf = (number: number) => (Math.imul(number, 0x9e3779b1) >>> 0).toString(36).padStart(7, '0');
  const seen = new Map<number, number>();
  for (let number = 0; ; number += 1) {
    const after = hashOf(textOf(number), before);
    const other = seen.get(after);
    if (other !== undefined) return { pair: [textOf(other), textOf(number)], after };
    seen.set(after, number);
  }
}

/** Each collision doubles the keys with one hash. */
function collidingKeys(collisions: number): readonly string[] {
  let keys = [''];
  let hash = 0;
  for (let made = 0; made < collisions; made += 1) {
    const { pair, after } = collide(hash);
    keys = keys.flatMap((key) => pair.map((text) => key + text));
    hash = after;
  }
  return keys;
}

const bodyOf = (keys: readonly string[]) =>
  Buffer.from(`{${keys.map((key) => `${JSON.stringify(key)}:1`).join()}}`);
describe('keys made to meet in one slot', () => {
  const keys = collidingKeys(6);

  test('have one hash', () => {
    expect(new Set(keys.map((key) => hashOf(key, 0))).size).toBe(1);
    expect(new Set(keys).size).toBe(64);
  });

  test('are accepted if each occurs once', () => {
    expect(parseStrictJson(bodyOf(keys)).count).toBe(129);
  });

  test.each([0, 1, 40, 63])('are refused where one stands again: key %i', (at) => {
    const body = bodyOf([...keys, keys[at] as string]);

    expect(() => parseStrictJson(body)).toThrow('a key is used twice');
  });
});
