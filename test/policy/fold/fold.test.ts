import { describe, expect, test } from 'vitest';
import { createFold } from '../../../src/policy/fold/fold.ts';

const fold = createFold();

describe('the folded view', () => {
  test.each([
    ['case', 'Project NIGHTFALL', 'project nightfall'],
    ['ligatures', 'ﬁle', 'file'],
    ['Cyrillic look-alikes', 'рrојесt', 'project'],
    ['Greek capitals that look Latin', 'ΝΙGΗΤ', 'night'],
    ['small capitals', 'ᴘʀᴏᴊᴇᴄᴛ', 'project'],
    ['letters with a stroke', 'płøject', 'ploject'],
    ['digits of other scripts', '٤١١١ ৪ ４', '4111 4 4'],
    ['dashes', 'a‐b–c—d−e', 'a-b-c-d-e'],
    ['letters that are two when large', 'Straße', 'strasse'],
    ['forms that look like another letter', 'ϲard', 'card'],
  ])('unites %s', (_name, text, expected) => {
    const folded = fold.text(text);

    expect(folded).toBe(expected);
  });

  test('is the same whether a text is composed or decomposed', () => {
    const text = 'Größe naïve Åse ГОСТ Ёлка 각하';

    expect(fold.text(text.normalize('NFD'))).toBe(fold.text(text.normalize('NFC')));
  });

  test('leads back to the characters it came from', () => {
    const text = 'x\u0301  ﬁ\u{1d4c5}!';

    const places = fold.locate(
      text,
      0,
      [0, 1, 2, 3, 4, 5].map((start) => ({ start, end: start + 1 })),
    );

    expect(fold.text(text)).toBe('x fip!');
    expect(places.map(({ start, end }) => [start, end])).toEqual([
      [0, 1],
      [2, 4],
      [4, 5],
      [4, 5],
      [5, 7],
      [7, 8],
    ]);
  });

  test('keeps ASCII letters and digits apart that only resemble each other', () => {
    expect(fold.text('O0 l1I|')).toBe('o0 l1i|');
  });

  test('needs no more than a long text of marks is long', () => {
    const marks = '\u0301\u0323'.repeat(100_000);

    expect(fold.text(`a${marks}b`)).toBe('ab');
  });
});
