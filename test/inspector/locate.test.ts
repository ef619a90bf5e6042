import { expect, test } from 'vitest';
import { locate } from '../../src/inspector/detail/locate.ts';

const document = {
  a: [0.5, -1e21, null, true, [], {}, [[['\\', '"quoted\\"']]]],
  '': { 'a/b': '', 'm~n': '{"in":"side"}', 'é"\\': ['\u2028', '\ud83d\ude00'] },
  '0': { '0': 'text', ['__proto__']: { 'x y': [{ a: false }, { a: [1] }] } },
};

function pointersOf(value: unknown, pointer = ''): readonly (readonly [string, unknown])[] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, each]) =>
          pointersOf(each, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
        )
      : [];
  return [[pointer, value], ...inner];
}

test.each([0, 1, 2])('every value of a document is found at its place, indented by %i', (indent) => {
  const text = JSON.stringify(document, null, indent);
  const all = pointersOf(document);

  const ranges = locate(
    text,
    all.map(([pointer]) => pointer),
  );

  const found = all.map(([pointer]) => {
    const { start, end } = ranges.get(pointer) ?? { start: 0, end: 0 };
    return [pointer, JSON.parse(text.slice(start, end) || '"nowhere"')];
  });
  expect(found).toEqual(all);
  expect(all).toHaveLength(28);
});

test('what is inside of a string is the string, and what is nowhere is nowhere', () => {
  const text = '{"arguments":"{\\"path\\":\\"/etc\\"}","n":1}';

  const ranges = locate(text, ['/arguments/path', '/n/deeper', '/none', 'header:x']);

  const { start, end } = ranges.get('/arguments/path') ?? {};
  expect(text.slice(start, end)).toBe('"{\\"path\\":\\"/etc\\"}"');
  expect([...ranges.keys()]).toEqual(['/arguments/path']);
});

test('a truncated text has what comes before the cut', () => {
  expect([...locate('{"a":1,"b":"cu', ['/a', '/b']).keys()]).toEqual(['/a']);
  expect(locate('{'.repeat(100_000), ['/a']).size).toBe(0);
  expect(locate('['.repeat(100_000), ['/0']).size).toBe(0);
});

test('as many matches as there are texts take no more than linear time', () => {
  const texts = Array.from({ length: 60_000 }, () => 'x');
  const text = JSON.stringify({ texts });
  const startedAt = process.cpuUsage().user;

  const ranges = locate(
    text,
    texts.map((_, i) => `/texts/${i}/deep/er`),
  );

  expect(ranges.size).toBe(1_000);
  expect(process.cpuUsage().user - startedAt).toBeLessThan(2_000_000);
});
