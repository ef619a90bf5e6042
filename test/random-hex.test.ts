import { expect, test } from 'vitest';
import { randomHex } from '../src/http/respond.ts';

test('draws digits that are as many as asked for and never the same, over many draws', () => {
  const draw = randomHex(30);

  const drawn = Array.from({ length: 1_000 }, draw);

  expect(new Set(drawn).size).toBe(1_000);
  for (const digits of drawn) expect(digits).toMatch(/^[0-9a-f]{30}$/);
});

test('every digit of every place is drawn', () => {
  const draw = randomHex(2);

  const drawn = Array.from({ length: 2_000 }, draw);

  for (const place of [0, 1]) expect(new Set(drawn.map((digits) => digits[place])).size).toBe(16);
});
