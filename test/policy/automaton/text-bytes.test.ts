import { expect, test } from 'vitest';
import { hasKeyRun, runAtEnd, runAtStart } from '../../../src/policy/automaton/text-bytes.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';
import { policyOf, saying } from '../deciding.ts';
import { escapedText, fold, plainText } from './text-bytes.ts';

const longRun = /(?=[a-z_.~$+/=-]*[0-9])[a-z0-9_.~$+/=-]{31}/;
// Pieces of runs far more often than separators, so that runs are about as long as it takes.
const pieces = 'a|Zz9|-|_x~|0123|kkkkkkkkk|а|ａ９|𝐀|\u200b|日本|한| |+/|.$=|;|\n'.split('|');

function randomText(random: Random): string {
  return Array.from({ length: 3 + random.below(18) }, () => random.of(pieces)).join('');
}

test('never misses a run that the folded view has, however it is written', () => {
  const random = createRandom(31);
  let runs = 0;
  const missed: string[] = [];
  for (let round = 0; round < scale(2_000, 20_000); round += 1) {
    const text = randomText(random);
    const isThere = [text.toLowerCase(), ...fold.texts(text).map((each) => each.text)].some((each) =>
      longRun.test(each),
    );
    if (!isThere) continue;
    runs += 1;
    const escaped = text.replace(/./gsu, (letter) =>
      random.below(4) === 0 ? escapeOf(letter) : JSON.stringify(letter).slice(1, -1),
    );
    for (const written of [plainText(text), escapedText(Buffer.from(escaped))]) {
      if (!hasKeyRun(written)) missed.push(text);
    }
  }

  expect(missed).toEqual([]);
  expect(runs).toBeGreaterThan(scale(30, 300));
});

function escapeOf(letter: string): string {
  return Array.from(
    { length: letter.length },
    (_, at) => `\\u${letter.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}

test('no character ends a run that the folded view reads as a part of one, or does not see', () => {
  const ends: string[] = [];
  for (let codePoint = 0x80; codePoint < 0x2_0000; codePoint += scale(13, 1)) {
    if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
    const character = String.fromCodePoint(codePoint);
    const folded = fold.texts(`;${character};`).map((each) => each.text);
    const belongs = folded.some((each) => each === ';;' || /[a-z0-9_.~$+/=-]/.test(each));
    if (belongs && !runAtStart(plainText(character)).fillsText) ends.push(codePoint.toString(16));
  }

  expect(ends).toEqual([]);
});

test('is exact in ASCII, at the ends too', () => {
  const random = createRandom(62);
  const wrong: string[] = [];
  for (let round = 0; round < scale(2_000, 20_000); round += 1) {
    const text = randomText(random).replace(/[^ -~]/gu, '');
    const run = /^[\w.~$+/=-]*/.exec(text)?.[0] ?? '';
    const last = /[\w.~$+/=-]*$/.exec(text)?.[0] ?? '';
    const { length, fillsText } = runAtStart(plainText(text));
    const isRight =
      hasKeyRun(plainText(text)) === longRun.test(text.toLowerCase()) &&
      Math.min(31, length) === Math.min(31, run.length) &&
      (run.length >= 31 || fillsText === (run.length === text.length)) &&
      Math.min(31, runAtEnd(plainText(text))) === Math.min(31, last.length);
    if (!isRight) wrong.push(text);
  }

  expect(wrong).toEqual([]);
});

test('is the same in a document that is too short to be read by the word', () => {
  const random = createRandom(8);
  const texts = Array.from({ length: scale(500, 5_000) }, () => plainText(randomText(random)));
  const words = new DataView(new ArrayBuffer(0));

  const different = texts.filter((text) => hasKeyRun({ ...text, words }) !== hasKeyRun(text));

  expect(different).toEqual([]);
  expect(texts.some(hasKeyRun)).toBe(true);
});

test('is not there in prose, code, Chinese or Japanese', () => {
  const texts = [
    'The gateway streams tokens from the upstream provider without copying. '.repeat(20),
    'if (x42 === "value") {\n  return { id: 123456, path: "/a/b", at: [1, 2, 3] };\n}\n'.repeat(20),
    '日本語のテキストです、長い文でも、空白がありません。'.repeat(20),
    '这是一个没有空格的长句子，里面有2024年和GPT。'.repeat(20),
    '한국어 문장입니다. 띄어쓰기가 있습니다. '.repeat(20),
  ];

  expect(texts.filter((text) => hasKeyRun(plainText(text)))).toEqual([]);
});

test('a key of an unlisted service is found wherever it is split over neighbours', () => {
  // Of no service in the table, and behind a prefix that does not speak of a key.
  const key = 'acme_b7Kq2ZrX9mTn4VwLs8PdYc3HgJf6RtB5kQeUxA1iWo';
  const decide = policyOf({ id: 'keys', action: 'block', when: { text: { detect: ['secrets'] } } });
  const isFound = (...texts: readonly string[]) =>
    decide(saying(texts.map((text) => ({ type: 'text', text })))).refusal !== undefined;
  const places = Array.from({ length: key.length - 1 }, (_, at) => at + 1);
  const missed = places.filter(
    (at) =>
      !isFound(`see ${key.slice(0, at)}`, `${key.slice(at)} there`) ||
      (at > 1 && !isFound(key.slice(0, 1), key.slice(1, at), key.slice(at))),
  );

  expect(missed).toEqual([]);
  expect(isFound(...key)).toBe(true);
  expect(isFound(...`${'much before it, '.repeat(30)}${key}`)).toBe(true);
});
