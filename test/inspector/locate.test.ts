import { expect, test } from 'vitest';
import { locate } from '../../src/inspector/detail/locate.ts';
import { createRandom } from '../kit/random.ts';

const keys = ['a', '', 'a/b', 'm~n', 'é"\\', '0', '__proto__', 'x y'];

function randomValue(random: (below: number) => number, depth: number): unknown {
  const kind = random(depth > 4 ? 4 : 6);
  if (kind === 0) return random(1_000) - 500.5;
  if (kind === 1) return [null, true, false][random(3)];
  if (kind < 4) return ['', 'text', '\\', '"quoted\\"', '{"in":"side"}', '\u2028', '\ud83d\ude00'][random(7)];
  if (kind === 4) return Array.from({ length: random(4) }, () => randomValue(random, depth + 1));
  return Object.fromEntries(
    keys.filter(() => random(3) === 0).map((key) => [key, randomValue(random, depth + 1)]),
  );
}

function pointersOf(value: unknown, pointer = ''): readonly (readonly [string, unknown])[] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, each]) =>
          pointersOf(each, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
        )
      : [];
  return [[pointer, value], ...inner];
}

test('every value of random documents is found at its place', () => {
  const { below: random } = createRandom(20_261_122);
  let looked = 0;
  const wrong: unknown[] = [];
  for (let round = 0; round < 500; round += 1) {
    const document = randomValue(random, 0);
    const text = JSON.stringify(document, null, random(3));
    const all = pointersOf(document);
    const ranges = locate(
      text,
      all.map(([pointer]) => pointer),
    );
    for (const [pointer, value] of all) {
      const { start, end } = ranges.get(pointer) ?? { start: 0, end: 0 };
      const found = JSON.stringify(JSON.parse(text.slice(start, end) || '"nowhere"'));
      if (found !== JSON.stringify(value)) wrong.push({ pointer, value, found });
      looked += 1;
    }
  }
  expect(wrong).toEqual([]);
  expect(looked).toBeGreaterThan(1_000);
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
