import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseSource } from '../../../src/config/source/document.ts';
import { parseYamlJson } from '../../../src/config/source/plain-json.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';

const example = readFileSync(join(import.meta.dirname, '../../../config.example.yaml'), 'utf8');

// biome-ignore format: what YAML gives a meaning to, and what it reads in more than one way
const pieces = [
  '"', "'", ':', ': ', '- ', '\n', '\n  ', '\n    ', '{', '}', '[', ']', ',', ', ', '#', ' #', 'a', 'b: c', '? ', '!',
  '&a', '*a', '%', '@', '`', '|', '>', '|-', '>+', '\t', '\\', '\\n', '\\"', '\\u0041', '\u0000', '\u00a0', '\u2028',
  '\u0085', '\ufeff', '\ud800', '😀', '---', '...', '\r\n', '\r', ' ', '  ', '<<', '=', '1', '0x1F', '0o17', '017', '1e3',
  '.5', '1_000', '+1', '-0', '.inf', '.nan', '1.', '0b1', '12345678901234567890', '~', 'null', 'Null', 'true', 'TRUE',
  'yes', '2020-01-01', '12:30', '""', "''", 'key', '[]', '{}', `\${A}`, '://x@', 'null: 1', 'true: x', '1: y', "'it''s'",
  'a:b', 'a :b', 'a#b', '- - x', 'x: - y', '? k\n: v', '"__pro\\\n  to__": x', '"<\\\n  <": x', '__proto__: x', ': v', 'a: |\n  t\n', 'a: >\n  t\n\n  u\n', 'a: "x\n  y"',
];

/** What begins with a mark is read as YAML. */
const parseWhole = (text: string) => parseSource(`---\n${text}`);

const written = parseWhole(example).value as Readonly<Record<string, unknown>>;

/** Sections of the example as a program would write them, mostly with one change. */
function jsonOf({ below: next }: Random): string {
  const sections = Object.entries(written).filter(() => next(12) === 0);
  const text = JSON.stringify(Object.fromEntries(sections), null, next(3));
  const at = next(text.length);
  const piece = next(4) === 0 ? '' : (pieces[next(pieces.length)] ?? '');
  return text.slice(0, at) + piece + text.slice(at + next(2));
}

/** A number that is too large for a double is infinite for one parser and a text for the other; nothing admits either. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([key, inner]) => [key, comparable(inner)]);
  return /^[-+]?(?:Infinity|[\d.]+e\+?\d{3,})$/i.test(String(value)) ? 'too large' : value;
}

test('what is read as JSON, YAML reads the same, without a complaint', () => {
  const random = createRandom(1);
  const certain = JSON.stringify(written, null, 2);
  const texts = [certain, ...Array.from({ length: scale(800, 6_000) }, () => jsonOf(random))];

  let taken = 0;
  for (const text of texts) {
    const plain = parseYamlJson(text);
    if (plain === undefined) continue;
    const whole = parseWhole(text);
    taken += 1;
    expect.soft(whole.problems, text).toEqual([]);
    expect.soft(comparable(plain.value), text).toEqual(comparable(whole.value));
  }

  expect(parseYamlJson(certain)).toBeDefined();
  expect(taken).toBeGreaterThan(texts.length / 5);
}, 120_000);

test.each([
  ['a key that is there twice', '{"a":1,"a":2}'],
  ['a colon on the next line', '{"a"\n:1}'],
  ['a key longer than YAML reads', `{"${'k'.repeat(1_025)}":1}`],
  ['a key that would be a prototype', '{"__proto__":{"b":1}}'],
  ['a comment', '{"a":1} # one'],
])('%s is no JSON that YAML reads the same', (_name, text) => {
  expect(parseYamlJson(text)).toBeUndefined();
});
