import { describe, expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { compilePatternSet, type Pattern } from '../../../src/policy/automaton/patterns.ts';
import { Search } from '../../../src/policy/search/search.ts';
import { ViewedText } from '../../../src/policy/search/viewed-text.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';
import { fold, pattern, phrase } from '../automaton/text-bytes.ts';
import { policyOf, saying } from '../deciding.ts';

const text = (each: string) => ({ type: 'text', text: each });
const blocks = (count: number) => Array.from({ length: count }, (_, at) => text('abcdefghij'[at % 10] ?? ''));

test('addresses over two of hundreds of small blocks are counted once each, wherever they stand', () => {
  const decide = policyOf({ id: 'address', action: 'warn', when: { text: { detect: ['email'] } } });
  const addresses = Array.from({ length: 25 }, () => [text(' jane@exam'), text('ple.org ')]).flat();

  for (const before of [0, 100, 180, 200, 250, 300, 400]) {
    const { verdicts } = decide(saying([...blocks(before), ...addresses, ...blocks(400)]));

    const matches = verdicts.flatMap((verdict) => verdict.matches);
    expect(
      matches.map(({ at, count }) => `${at} ${count}`),
      `${before} blocks before`,
    ).toEqual(Array.from({ length: 25 }, (_, at) => `/messages/0/content/${before + 2 * at + 1}/text 1`));
  }
});

test.each([
  { phrases: [' nightfall'], match: 'exact' },
  { phrases: [' nightfall'], match: 'folded' },
  { regex: ['\\snightfall'] },
])('what begins with a space is found where the space is only between two texts: %j', (sought) => {
  const decide = policyOf({ id: 'codename', action: 'block', when: { text: sought } });

  const { action } = decide(saying([text('.'), text('nightfall')]));

  expect(action).toBe('block');
});

/** Cuts a text at places that are drawn, at some of which the spaces are lost. */
function cut(whole: string, count: number, random: Random): readonly string[] {
  const places = Array.from({ length: count - 1 }, () => random.below(whole.length + 1));
  const ends = [...places.sort((one, other) => one - other), whole.length];
  return ends.map((end, at) => {
    const piece = whole.slice(ends[at - 1] ?? 0, end);
    return random.below(2) === 0 ? piece.trim() : piece;
  });
}

const folded = (source: string) => pattern(source, 'folded');
const patterns: readonly Pattern[] = [
  ...['project nightfall', 'one two three four five', ' b', 'a b a'].map(phrase),
  { kind: 'phrase', text: 'one Two three' },
  ...['one\\s+two\\s+three\\s+four', '\\bab\\b', 'a\\Bb', 'o.{1,4}z', '^ab', 'ab$', '\\sfive\\b'].map(folded),
  ...['project\\s+night', '(?m:^b$)', '[^a]b'].map((source) => pattern(source)),
];
const words = [
  ...['project nightfall', 'one two three four five', 'one Two three four', 'PROJECT  NIGHTFALL'],
  ...['ab', 'a b a', 'b', '-', 'oz', '\n', ' ', 'stop'],
];

/** A text of a turn; a thought is one that some readers leave out. */
interface Cut {
  readonly text: string;
  readonly isThought: boolean;
}

/** Every way in which readers may join neighbouring texts: at each border with nothing or with a space. */
function* joinings(texts: readonly Cut[]): Iterable<string> {
  for (let from = 0; from < texts.length; from += 1) {
    let joined = [(texts[from] as Cut).text];
    yield* joined;
    for (const { text: next, isThought } of texts.slice(from + 1)) {
      const longer = joined.flatMap((before) => [before + next, `${before} ${next}`]);
      yield* longer;
      joined = isThought ? [...joined, ...longer] : longer;
    }
  }
}

test('a phrase or an expression is found exactly where some way to join the texts has it', () => {
  const random = createRandom(71);
  const search = new Search(compilePatternSet(patterns, fold));
  let across = 0;
  for (let round = 0; round < scale(200, 4_000); round += 1) {
    const whole = Array.from({ length: 1 + random.below(4) }, () => random.of(words));
    const texts = cut(whole.join(random.of([' ', ''])), 2 + random.below(4), random)
      .filter((each) => each !== '')
      .map((each) => ({ text: each, isThought: random.below(4) === 0 }));
    const content = texts.map((each) =>
      each.isThought ? { type: 'thinking', thinking: each.text, signature: '' } : text(each.text),
    );
    const body = { model: 'm', messages: [{ role: 'assistant', content }] };
    const { matches } = search.request(parseStrictJson(Buffer.from(JSON.stringify(body))), dialects.messages);
    const views = [...joinings(texts)].map((each) => new ViewedText(each, fold));

    const expected = patterns.flatMap((sought, number) =>
      views.some((view) => view.ranges(sought).length > 0) ? [number] : [],
    );

    expect({ texts, found: [...matches.keys()].sort((one, other) => one - other) }).toEqual({
      texts,
      found: expected,
    });
    across += [...matches.values()].flat().filter(({ before }) => before !== undefined).length;
  }
  expect(across).toBeGreaterThan(scale(100, 2_000));
});

describe('a value that is cut anywhere', () => {
  const long = 'words of a long text '.repeat(20);
  const values = {
    credit_card: '4111 1111 1111 1111',
    iban: 'DE89 3704 0044 0532 0130 00',
    email: 'ann.lee@mail.example.com',
    us_ssn: '536-22-8145',
    secrets: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  };

  test.each(Object.entries(values))('%s, into up to 64 texts', (detector, value) => {
    const random = createRandom(9);
    const decide = policyOf({ id: 'value', action: 'block', when: { text: { detect: [detector] } } });
    const missed: string[] = [];
    for (let round = 0; round < scale(40, 600); round += 1) {
      const count = round === 0 ? value.length : 2 + random.below(round % 2 === 0 ? 3 : 62);
      const places = Array.from({ length: count - 1 }, (_, at) =>
        round === 0 ? at + 1 : random.below(value.length + 1),
      ).sort((one, other) => one - other);
      const pieces = [...places, value.length].map((end, at) => value.slice(places[at - 1] ?? 0, end));
      const around = round % 3 === 0 ? [] : blocks(256 - random.below(count));
      // Long texts are checked at once, and end what came before.
      const lead = random.of(['it is ', long]);
      const trail = random.of([' ok', ` ${long}`]);
      const texts = pieces.map(
        (piece, at) => (at === 0 ? lead : '') + piece + (at === pieces.length - 1 ? trail : ''),
      );
      const { action } = decide(saying([...around, ...texts.map(text), text('.')]));
      if (action !== 'block') missed.push(pieces.join('|'));
    }
    expect(missed).toEqual([]);
  });
});
