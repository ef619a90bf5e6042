import { expect, test } from 'vitest';
import { toExcerpt } from '../../src/inspector/detail/excerpt.ts';

const marked = (text: string, ...ranges: { start: number; end: number }[]) => {
  const { excerpt = '', excerpt_ranges: all = [] } = toExcerpt(text, ranges);
  return all.reduceRight(
    (shown, { start, end }) => `${shown.slice(0, start)}[${shown.slice(start, end)}]${shown.slice(end)}`,
    excerpt,
  );
};

test('a short text is shown whole, with the match', () => {
  expect(marked('write to jo@example.org, please', { start: 9, end: 23 })).toBe(
    'w•••• t• [j•@e••••••.o••], p•••••',
  );
});

test('every match that is in it is marked', () => {
  const text = `heron, a heron, and ${'one more '.repeat(20)}heron`;
  const ranges = [
    { start: 0, end: 5 },
    { start: 9, end: 14 },
    { start: 200, end: 205 },
  ];

  expect(marked(text, ...ranges)).toMatch(/^\[h••••\], a \[h••••\], a•• [^[]*…$/);
});

test('of a long text the match and what is around it is shown', () => {
  const text = `${'word '.repeat(100)}blue heron${' more'.repeat(100)}`;

  const shown = marked(text, { start: 500, end: 510 });

  expect(shown).toMatch(/^…(?:w••• ){8}\[b••• h••••\](?: m•••)+/);
  expect(shown).toMatch(/…$/);
  expect(shown.length).toBeLessThan(170);
});

test('a word that is cut shows no letter of its middle', () => {
  const text = `${'a'.repeat(400)}@example.org`;

  expect(toExcerpt(text, [{ start: 300, end: 412 }]).excerpt).toMatch(/^…•+@e••••••\.o••$|^…•+…$/);
});

test('characters of two units are never cut, and offsets stay right', () => {
  const text = `${'😀𝒳'.repeat(100)} here ${'𝒳😀'.repeat(100)}`;
  for (let start = 390; start < 410; start += 1) {
    const { excerpt = '' } = toExcerpt(text, [{ start, end: start + 4 }]);
    expect(excerpt).not.toMatch(/\p{Surrogate}/u);
  }
  expect(marked(text, { start: 401, end: 405 })).toContain('[h•••]');
});

test.each([undefined, { start: 5, end: 99 }, { start: 3, end: 3 }])(
  'a range of %j marks nothing',
  (range) => {
    expect(marked('some text', ...(range === undefined ? [] : [range]))).toBe('s••• t•••');
  },
);
