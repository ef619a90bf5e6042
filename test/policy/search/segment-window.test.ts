import { expect, test } from 'vitest';
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
