import { expect, test } from 'vitest';
import { compilePatternSet, compilePhrase, type Pattern } from '../../../src/policy/automaton/patterns.ts';
import { creditCard } from '../../../src/policy/detectors/finance/credit-card.ts';
import { ViewedText } from '../../../src/policy/search/viewed-text.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';
import { escapedText, fold, pattern, phrase } from '../automaton/text-bytes.ts';

const phrases = ['project nightfall', 'million oil bills', 'quick brown fox', 'jazz vamp kudos why'];
const patterns: readonly Pattern[] = [
  ...phrases.map(phrase),
  ...phrases.map((text) => pattern(`\\b${text.replaceAll(' ', '\\s')}\\b`, 'folded')),
];
const { scanner } = compilePatternSet(patterns, fold);

/** Which phrases are found, by the search and by what looks for ranges; they must agree. */
function found(text: string): readonly number[] {
  scanner.scan(escapedText(Buffer.from(JSON.stringify(text).slice(1, -1))));
  const seen = [...scanner.found.folded].filter((number) => number < phrases.length).sort();
  const viewed = new ViewedText(text, fold);
  const ranged = seen.filter((number) => viewed.ranges(patterns[number] as Pattern).length > 0);
  expect(ranged).toEqual(seen);
  // The expression that asks for whole words finds what the phrase finds.
  const matched = [...scanner.found.folded].filter((number) => number >= phrases.length);
  expect(matched.map((number) => number - phrases.length).sort()).toEqual(seen);
  return seen;
}

// Planes 3 to 13 are not assigned, and those behind the tags are for private use.
const characters = scale([0, 1, 0xe], [0, 1, 2, 3, 0xe, 0xf, 0x10]).flatMap((plane) =>
  Array.from({ length: 0x1_0000 }, (_, at) => plane * 0x1_0000 + at)
    .filter((at) => at < 0xd800 || at > 0xdfff)
    .map((at) => String.fromCodePoint(at)),
);
/** Some of a list, or all. */
const some = <T>(list: readonly T[], step: number) => list.filter((_, at) => at % scale(step, 1) === 0);
const matching = (wanted: RegExp) => characters.filter((each) => wanted.test(each));

/** Every character beyond ASCII that may be read as some text of letters. */
const looksLike = new Map<string, string[]>();
/** Those that are read as single letters only. */
const single = new Set<string>();
for (const character of characters.slice(0x80, 0x20000)) {
  const folded = fold.point(character.codePointAt(0) as number);
  if (folded === 0) continue;
  const readings = folded > 0 ? [[folded]] : (fold.readings[-1 - folded] ?? []);
  if (readings.every(({ length }) => length === 1)) single.add(character);
  for (const reading of readings) {
    const text = String.fromCodePoint(...reading);
    if (!/^[a-z]+$/.test(text)) continue;
    looksLike.set(text, [...(looksLike.get(text) ?? []), character]);
  }
}

// Of the thousands that Unicode has set aside some are enough.
const isSetAside = (character: string) =>
  character >= '\u{e0100}' && (character.codePointAt(0) ?? 0) % 64 !== 0;
const invisible = [
  ...matching(/[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/u).filter(
    (each) => !/\p{White_Space}/u.test(each) && !isSetAside(each),
  ),
  ...['\ud800', '\udfff', '\x85', '\u{1d159}', '\ufdd0', '\u{1fffe}'],
];
// Some marks are invisible: variation selectors, the grapheme joiner.
const marks = matching(/\p{M}/u).filter((each) => !/\p{Default_Ignorable_Code_Point}/u.test(each));
const blanks = matching(/(?!\x85)[\p{White_Space}\u2800]/u);

function mapLetters(text: string, change: (letter: string) => string): string {
  return Array.from(text, (each) => (each === ' ' ? each : change(each))).join('');
}

const offsetBy = (first: number) => (letter: string) =>
  String.fromCodePoint(first + (letter.codePointAt(0) as number) - 0x61);

test('every look-alike of every letter is tried in every place', () => {
  let count = 0;
  phrases.forEach((phrase, number) => {
    for (let at = 0; at < phrase.length; at += 1) {
      for (const length of [1, 2, 3]) {
        const letters = phrase.slice(at, at + length);
        for (const other of (looksLike.get(letters) ?? []).filter((_, i) => (i + at) % scale(24, 1) === 0)) {
          const text = `x ${phrase.slice(0, at)}${other}${phrase.slice(at + length)} y`;
          const where = `${text} (${other.codePointAt(0)?.toString(16)})`;
          expect([where, ...found(text)]).toEqual([where, number]);
          count += 1;
        }
      }
    }
  });
  expect(count).toBeGreaterThan(scale(120, 3_000));
});

test('what is not seen is nothing within a word, and a blank between two', () => {
  for (const each of some(invisible, 5)) {
    const label = each.codePointAt(0)?.toString(16);
    for (const text of [
      `x pro${each}ject nightfall y`,
      `x project${each}nightfall y`,
      `x project ${each}nightfall${each} y`,
      `x project${each}${each} nightfall y`,
      `x ${each}p${each}r${each}o${each}ject${each}night${each}fall y`,
    ]) {
      expect([label, text, ...found(text)]).toEqual([label, text, 0]);
    }
  }
  expect(invisible.length).toBeGreaterThan(250);
});

test('marks are nothing, and every blank is a blank', () => {
  for (const each of some(marks, 11)) {
    const text = `x pro${each}ject nightfall${each} y`;
    expect([each, ...found(text)]).toEqual([each, 0]);
    expect(found(`x project${each}nightfall y`)).toEqual([]);
  }
  for (const each of blanks) {
    expect([each, ...found(`x project${each}${each}nightfall y`)]).toEqual([each, 0]);
    expect(found(`x pro${each}ject nightfall y`)).toEqual([]);
  }
});

test('letters in frames, circles and other alphabets of symbols are letters', () => {
  const alphabets: Readonly<Record<string, (letter: string) => string>> = {
    parenthesised: offsetBy(0x249c),
    'parenthesised capitals': offsetBy(0x1f110),
    circled: offsetBy(0x24d0),
    'circled capitals': offsetBy(0x24b6),
    squared: offsetBy(0x1f130),
    'negative circled': offsetBy(0x1f150),
    'negative squared': offsetBy(0x1f170),
    'regional indicators': offsetBy(0x1f1e6),
    'regional indicators, apart': (letter) => `${offsetBy(0x1f1e6)(letter)}\u200b`,
    tags: offsetBy(0xe0061),
    wide: offsetBy(0xff41),
    'bold mathematical': offsetBy(0x1d41a),
    monospace: offsetBy(0x1d68a),
    'combining frames': (letter) => `${letter}\u20de`,
    struck: (letter) => `${letter}\u0336`,
  };
  for (const [name, alphabet] of Object.entries(alphabets)) {
    phrases.forEach((phrase, number) => {
      expect([name, ...found(`x ${mapLetters(phrase, alphabet)} y`)]).toEqual([name, number]);
    });
  }
});

/** Tags may also be read as the letter that they encode, which may be the one that was replaced. */
const withoutLetter = invisible.filter((each) => !/[\u{e0020}-\u{e007e}]/u.test(each));

/** A disguise of a text that mixes all of the above, a character at a time. */
function disguised(text: string, random: Random): string {
  return Array.from(text, (letter) => {
    const hidden = random.below(3) === 0 ? random.of(withoutLetter) : '';
    if (letter === ' ') return random.of([...blanks, random.of(withoutLetter)]) + hidden;
    const others = (looksLike.get(letter) ?? []).filter((each) => single.has(each));
    const other = random.below(2) === 0 && others.length > 0 ? random.of(others) : letter;
    return (
      (random.below(3) === 0 && other === letter ? letter.toUpperCase() : other) +
      (random.below(4) === 0 ? random.of(marks) : '') +
      hidden
    );
  }).join('');
}

test('mixtures of all disguises are seen through, and texts that are not the phrase stay what they are', () => {
  const random = createRandom(12);
  for (let round = 0; round < scale(200, 1_000); round += 1) {
    const number = random.below(phrases.length);
    const phrase = phrases[number] as string;
    const text = `x ${disguised(phrase, random)} y`;
    // A letter that is none of the phrase's, and looks like none of them in any case.
    const letters = Array.from(phrase);
    const at = letters.findIndex(
      (letter, index) => letter !== ' ' && random.below(phrase.length - index) === 0,
    );
    letters[Math.max(at, 0)] = random.of(['語', '7', 'ж', 'ש']);
    const other = `x ${disguised(letters.join(''), random)} y`;

    expect([text, ...found(text)]).toEqual([text, number]);
    expect([other, ...found(other)]).toEqual([other]);
  }
});

test('a letter that has two cases is found in either, whatever they look like', () => {
  const cased = characters.filter(
    (each) => each > '\x7f' && /\p{L}/u.test(each) && each.toLowerCase() !== each.toUpperCase(),
  );
  const missed: string[] = [];
  for (const each of some(cased, 7)) {
    for (const from of [each, each.toLowerCase(), each.toUpperCase()]) {
      const phrase = compilePhrase(`q${from}q`, 'folded', fold);
      if ('problem' in phrase) throw new Error(phrase.problem);
      for (const to of [each, each.toLowerCase(), each.toUpperCase()]) {
        const where = `${from} ${to} ${each.codePointAt(0)?.toString(16)}`;
        if (new ViewedText(`q${to}q`, fold).ranges(phrase.value).length === 0) missed.push(where);
      }
    }
  }
  expect(missed).toEqual([]);
});

test('a card is found in the digits of every script and in what looks like digits', () => {
  const detector: Pattern = {
    kind: 'detector',
    name: 'credit_card',
    confidence: 'likely',
    detector: creditCard,
  };
  const zeros = characters.filter((each) => /\p{Nd}/u.test(each) && fold.text(each) === '0');
  for (const zero of zeros) {
    const text = mapLetters('4111111111111111', (digit) =>
      String.fromCodePoint((zero.codePointAt(0) as number) + Number(digit)),
    );
    expect([zero, new ViewedText(text, fold).ranges(detector).length > 0]).toEqual([zero, true]);
  }
  for (const text of [
    '4ӏӏӏ ӏӏӏӏ ӏӏӏӏ ӏӏӏӏ',
    '4111\u200b1111\u200b1111\u200b1111',
    '4111\u00001111\u00011111\u00021111',
  ]) {
    expect([text, new ViewedText(text, fold).ranges(detector).length > 0]).toEqual([text, true]);
  }
});
