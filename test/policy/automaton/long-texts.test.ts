import { describe, expect, test } from 'vitest';
import { type TextView, views } from '../../../src/policy/automaton/byte-reader.ts';
import type { State } from '../../../src/policy/automaton/lazy-dfa.ts';
import { compilePatternSet, type Pattern } from '../../../src/policy/automaton/patterns.ts';
import type { Scanner } from '../../../src/policy/automaton/scanner.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';
import { escapedText, fold, pattern, phrase, plainText } from './text-bytes.ts';

const folded = (source: string) => pattern(source, 'folded');
const patterns: readonly Pattern[] = [
  ...['project aurora', 'a b a b a b', '  ', 'x\ny', 'straße'].map(phrase),
  ...['\\bkey-[0-9]{4}\\b', 'a.{20,40}z', '"quoted" +"', '[0-9] [0-9] [0-9]', '\\\\\\\\', '^The', 'end$'].map(
    folded,
  ),
  folded('(?:[a-c] ){30}q'),
];

const prose =
  'the gateway should stream tokens a b c a b aurora project the key-123 The end "quoted" back\\slash x\ny q z 1 2 3';
const words = [...prose.split(' '), '', 'tab\there', 'straß'];
const rare = ['key-1234', 'project aurora', '  ', '"quoted" "', '\\\\', '1 2 3', 'straße', ...'é日😀\u0000'];

/** Words with spaces between them; of some texts nearly all, of others hardly any are unusual. */
function longText(random: Random): string {
  const odds = random.of([2, 20, 400, 100_000]);
  const length = 300 + random.below(random.of([400, 3000, 12_000]));
  let text = '';
  while (text.length < length) {
    text +=
      (random.below(odds) === 0 ? random.of(rare) : random.of(words)) + (random.below(9) === 0 ? '\n' : ' ');
    if (random.below(4000) === 0) text += 'nospacesatall'.repeat(20);
  }
  return text;
}

/** As it may stand in a body: with what must be escaped, and with some of what need not be. */
function escaped(text: string, random: Random): Buffer {
  const odds = random.of([3, 200, 100_000]);
  const units = [
    ...JSON.stringify(text)
      .slice(1, -1)
      .matchAll(/\\u....|\\.|[^\\]/gu),
  ].map(([unit]) => unit);
  return Buffer.from(
    units
      .map((unit) => {
        const isPlain = unit.length === 1 && random.below(odds) === 0;
        return isPlain ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : unit;
      })
      .join(''),
  );
}

/** Character by character, through each automaton by itself. */
function stepThrough(scanner: Scanner, text: string) {
  const found: Record<TextView, Set<number>> = { exact: new Set(), folded: new Set() };
  const after: Partial<Record<TextView, State>> = {};
  for (const view of views) {
    let state: State = scanner[view].start;
    const note = (each: State) => {
      for (const pattern of each.patterns) found[view].add(pattern);
    };
    for (const character of text) state = scanner.step(view, state, character.codePointAt(0) as number, note);
    for (const pattern of scanner[view].end(state)) found[view].add(pattern);
    after[view] = state;
  }
  return { found, after };
}

const sorted = (numbers: Iterable<number>) => [...numbers].sort((one, other) => one - other);

describe('long texts, whose parts are read in parallel', () => {
  test.each([
    ...[20, 21, 22, 23].map((seed) => ({ seed, limits: {} })),
    // With no room for further states, the automata are simulated thread by thread.
    ...[24, 25, 26, 27].map((seed) => ({ seed, limits: { roomLimit: 0 } })),
    ...[28, 29].map((seed) => ({ seed, limits: { roomLimit: 0, cellLimit: 64 } })),
  ])('hold the patterns, and end where, they do read singly (%j)', ({ seed, limits }) => {
    const random = createRandom(seed);
    const { scanner } = compilePatternSet(patterns, fold, limits);
    const told = new Set<number>();
    for (let round = 0; round < scale(5, 40); round += 1) {
      const text = longText(random);
      const isEscaped = round % 3 > 0;
      const bytes = isEscaped ? escaped(text, random) : plainText(text).bytes;
      const start = random.below(3);
      const padded = Buffer.concat([Buffer.from('a "'.slice(0, start)), bytes, Buffer.from('" b')]);
      const expected = stepThrough(scanner, text);

      scanner.scan(escapedText(padded, start, start + bytes.length));

      for (const view of views) {
        expect(sorted(scanner.found[view])).toEqual(sorted(expected.found[view]));
        const { threads, context } = scanner.after()[view];
        expect({ threads, context }).toEqual({
          threads: expected.after[view]?.threads,
          context: expected.after[view]?.context,
        });
        for (const pattern of scanner.found[view]) told.add(pattern);
      }
    }
    expect(told.size).toBeGreaterThan(scale(5, 8));
  });
  test('hold a phrase that one part ends with and the next begins with, wherever that is', () => {
    const { scanner } = compilePatternSet([phrase('project aurora')], fold);
    const places = Array.from({ length: 800 }, (_, at) => at);

    const missed = places.filter(
      (at) => !scanner.scan(plainText(`${'w '.repeat(at)}project aurora${' w'.repeat(800 - at)}`)),
    );

    expect(missed).toEqual([]);
  });
});
