import { expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { compilePatternSet, type Pattern } from '../../../src/policy/automaton/patterns.ts';
import { detectors } from '../../../src/policy/detectors/registry.ts';
import { Search } from '../../../src/policy/search/search.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';
import { fold, pattern, phrase } from './text-bytes.ts';

const folded = (source: string) => pattern(source, 'folded');
const patterns = [
  ...['project aurora', 'a b', 'straße', ' b', 'b '].map(phrase),
  ...['\\bab\\b', 'a\\Bb', '\\B-a', 'a.{2,4}z', '[ab]{3,6}c', 'a+b', '(?m:^b$)'].map(folded),
  ...['^a', 'z$', '[^a]b', 'a\\nb', 'c*\\b', '\\b b'].map(folded),
  ...['\\sb', '\\b a', '-\\s?b'].map((source) => pattern(source)),
];
const letters = [...'abbczA  \n-\u0000\u200bßﬀé漢😀l'];
const words = ['project', 'aurora', 'stra', 'ße', 'SSE', 'ab', 'a b'];

function piece(random: Random): string {
  return Array.from({ length: random.below(9) }, () =>
    random.below(5) === 0 ? random.of(words) : random.of(letters),
  ).join('');
}

/** What is found in a conversation, by pattern, with where it begins. */
function matchesIn(search: Search, blocks: readonly string[]): readonly (readonly [number, unknown[]])[] {
  const content = blocks.map((text) => ({ type: 'text', text }));
  const document = parseStrictJson(Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] })));
  const { matches } = search.request(document, dialects.messages);
  return [...matches]
    .sort(([one], [other]) => one - other)
    .map(
      ([pattern, found]) =>
        [pattern, found.map((each) => [each.segment.place.entry, each.before?.place.entry])] as const,
    );
}

test.each([{ roomLimit: 0 }, { roomLimit: 40 }, { roomLimit: 0, cellLimit: 64 }])(
  'texts that follow one another hold the same whether there is room for states or not (%j)',
  (limits) => {
    const random = createRandom(5);
    const usual = new Search(compilePatternSet(patterns, fold));
    let found = 0;
    for (let round = 0; round < scale(30, 250); round += 1) {
      const search = new Search(compilePatternSet(patterns, fold, limits));
      for (let each = 0; each < 3; each += 1) {
        const blocks = Array.from({ length: 1 + random.below(7) }, () => piece(random));
        const expected = matchesIn(usual, blocks);

        expect({ blocks, matches: matchesIn(search, blocks) }).toEqual({ blocks, matches: expected });
        found += expected.length;
      }
    }
    expect(found).toBeGreaterThan(scale(75, 625));
  },
);

const detecting: readonly Pattern[] = (['email', 'credit_card', 'iban'] as const).map((name) => ({
  kind: 'detector',
  name,
  confidence: 'likely',
  detector: detectors[name],
}));
const values = ['jane@example.org', '4111 1111 1111 1111', 'DE89 3704 0044 0532 0130 00'];

/** Hundreds of small blocks, some values in pieces among them, and some blocks of encoded data. */
function blocksWithValues(random: Random): readonly string[] {
  return Array.from({ length: 250 + random.below(150) }, () => {
    const kind = random.below(60);
    if (kind === 0) return ['ab1'.repeat(100)];
    if (kind > 8) return [random.of(letters)];
    const value = random.of(values);
    const at = 1 + random.below(value.length - 2);
    return [` ${value.slice(0, at)}`, ...(kind > 6 ? ['\u200b'] : []), `${value.slice(at)} `];
  }).flat();
}

test.each([{}, { roomLimit: 0 }, { roomLimit: 400 }])(
  'detectors find as much over texts whether there is room for states or not (%j)',
  (limits) => {
    const random = createRandom(7);
    const own = patterns.length;
    // Without prefilters they run on everything.
    const eager = detecting.map((each) =>
      each.kind === 'detector'
        ? { ...each, detector: { ...each.detector, prefilter: { kind: 'always' } as const } }
        : each,
    );
    const usual = new Search(compilePatternSet([...patterns, ...eager], fold));
    let found = 0;
    for (let round = 0; round < scale(2, 12); round += 1) {
      const search = new Search(compilePatternSet([...patterns, ...detecting], fold, limits));
      const blocks = blocksWithValues(random);
      const expected = matchesIn(usual, blocks);

      expect({ round, matches: matchesIn(search, blocks) }).toEqual({ round, matches: expected });
      found += expected.filter(([pattern]) => pattern >= own).flatMap(([, places]) => places).length;
    }
    expect(found).toBeGreaterThan(scale(50, 300));
  },
);

test.each([{ roomLimit: 0 }, { roomLimit: 300 }])(
  'texts in pieces hold the same whether there is room for states or not (%j)',
  (limits) => {
    const random = createRandom(6);
    const usual = compilePatternSet(patterns, fold).scanner.pieceReader();
    const reader = compilePatternSet(patterns, fold, limits).scanner.pieceReader();
    for (let round = 0; round < scale(30, 250); round += 1) {
      let before = usual.start;
      let state = reader.start;
      for (let each = 0; each < 6; each += 1) {
        const text = piece(random);
        const { after, settled, hits } = reader.read(text, state);
        const expected = usual.read(text, before);

        expect({ text, settled, hits }).toEqual({ text, settled: expected.settled, hits: expected.hits });
        state = after;
        before = expected.after;
      }
      expect(new Set(reader.end(state))).toEqual(new Set(usual.end(before)));
    }
  },
);
