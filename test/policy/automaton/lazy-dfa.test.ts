import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import type { TextView } from '../../../src/policy/automaton/byte-reader.ts';
import { compilePatternSet, type Pattern } from '../../../src/policy/automaton/patterns.ts';
import type { Scanner } from '../../../src/policy/automaton/scanner.ts';
import type { TextBytes } from '../../../src/policy/automaton/text-bytes.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';
import { escapedText, fold, pattern, phrase, plainText } from './text-bytes.ts';

type Found = Readonly<Record<TextView, readonly number[]>>;

function scanWith(scanner: Scanner, text: TextBytes): Found {
  scanner.scan(text);
  return { exact: [...scanner.found.exact], folded: [...scanner.found.folded] };
}

function scan(patterns: readonly Pattern[], text: string): Found {
  return scanWith(compilePatternSet(patterns, fold).scanner, plainText(text));
}

const atoms = [...'a b c é 1 _ . \\n [ab] [^a] \\d \\w \\s \\W [[:alpha:]] \\pL я 𝓅 k S'.split(' '), ' '];
const constructs: readonly ((inner: () => string, random: Random) => string)[] = [
  (inner) => `(?:${inner()}|${inner()})`,
  (inner) => `(?:${inner()})*`,
  (inner) => `(?:${inner()})+?`,
  (inner) => `(${inner()}){1,3}`,
  (inner) => `\\b${inner()}`,
  (inner) => `${inner()}\\B`,
  (inner) => `(?m:^${inner()}$)`,
  (inner) => `(?i:${inner()})`,
  (inner, random) => random.of(['^', '\\A']) + inner(),
  (inner, random) => inner() + random.of(['$', '\\z', '(?s:.)']),
  (inner) => inner() + inner(),
];

/** Patterns of every construct, made at random; small alphabets, so that many of them match. */
function randomPattern(random: Random, depth: number): string {
  if (depth === 0) return random.of(atoms);
  return random.of(constructs)(() => randomPattern(random, depth - 1), random);
}

const letters = [...'abcABéÉ \n1_.-яЯ𝓅Kſsk한'];

function randomText(random: Random): string {
  return Array.from({ length: random.below(14) }, () => random.of(letters)).join('');
}

describe('the automaton', () => {
  test.each([
    ['by table', {}],
    ['by simulation', { roomLimit: 0 }],
  ])('agrees with re2js on random patterns and texts, %s', (_name, limits) => {
    const random = createRandom(7);
    for (let round = 0; round < scale(15, 80); round += 1) {
      const sources = Array.from({ length: 6 }, () => randomPattern(random, 1 + random.below(4))).filter(
        (source) => !RE2JS.compile(source).test(''),
      );
      const patternSet = compilePatternSet(
        sources.map((source) => pattern(source)),
        fold,
        limits,
      );
      for (let each = 0; each < 25; each += 1) {
        const text = randomText(random);
        const found = scanWith(patternSet.scanner, plainText(text));

        const expected = sources.flatMap((source, at) => (RE2JS.compile(source).test(text) ? [at] : []));

        expect({ sources, text, found: [...found.exact].sort() }).toEqual({ sources, text, found: expected });
      }
    }
  });

  test('reads escapes as the characters they stand for', () => {
    const patternSet = compilePatternSet([pattern('a"b\\n\\x{1d4c5}\\x{e9}$')], fold);
    const text = escapedText(Buffer.from('a\\"\\u0062\\n\\ud835\\udcc5\\u00e9'));

    const found = scanWith(patternSet.scanner, text);

    expect(found.exact).toEqual([0]);
  });

  test('folds what it reads: runs of space, marks and letters that fold to several', () => {
    const patterns: Pattern[] = [phrase('a b'), phrase('Straße')];

    expect(scan(patterns, 'x A \t\u200b\n B').folded).toEqual([0]);
    expect(scan(patterns, 'STRASSE').folded).toEqual([1]);
    expect(scan(patterns, 'stra\u0301ße').folded).toEqual([1]);
    expect(scan(patterns, 'a  c').folded).toEqual([]);
  });

  test('reads a text that makes backtracking explode in one go', () => {
    const found = scan([pattern('(a+)+$')], `${'a'.repeat(50_000)}!`);

    expect(found.exact).toEqual([]);
  });
});
