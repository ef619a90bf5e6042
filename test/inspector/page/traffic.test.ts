import { expect, test } from 'vitest';
import type { ExchangeRow } from '../../../src/inspector/contract/exchange-list.ts';
import type { Minute, NowAnswer } from '../../../src/inspector/contract/now.ts';
import { hasGap, mergeNow, Traffic } from '../../../src/inspector/page/traffic.ts';

const row = (seq: number, status = 200) => ({ seq, id: `req_${seq}`, status }) as ExchangeRow;

test('rows stand in the order of their numbers, however they come, each once', () => {
  const traffic = new Traffic();

  for (const seq of [5, 3, 4, 1, 5, 2, 3]) traffic.put(row(seq));

  expect(traffic.rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
});

test('a row that is sent again replaces the previous one', () => {
  const traffic = new Traffic();

  traffic.put(row(1, 0));
  traffic.put(row(2, 0));
  traffic.put(row(1, 403));

  expect(traffic.get('req_1')?.status).toBe(403);
});

test('the oldest go when there are too many', () => {
  const traffic = new Traffic();

  for (let seq = 1; seq <= 25_000; seq += 1) traffic.put(row(seq));

  expect(traffic.rows.length).toBeLessThanOrEqual(10_500);
  expect(traffic.rows.at(-1)?.seq).toBe(25_000);
  expect(traffic.get('req_1')).toBeUndefined();
});

const minuteMs = 60_000;
const beganMs = Date.UTC(2026, 9, 25, 0, 30);

/** An answer with these minutes, counted from the beginning; each has as many requests as its number. */
const nowOf = (...numbers: readonly number[]): NowAnswer => ({
  minutes: numbers.map(
    (number): Minute => ({
      time: new Date(beganMs + number * minuteMs).toISOString(),
      requests: number,
      tokens: { input: 0, output: 0, cached: 0 },
      cost_usd: 0,
      blocks: {},
      errors: {},
    }),
  ),
  open: { exchanges: 0, streams: 0 },
  budgets: [],
  breakers: [],
});
const numbers = ({ minutes }: NowAnswer) => minutes.map(({ requests }) => requests);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test('a day of events keeps the last 60 minutes, one after the other', () => {
  let now = nowOf(...range(0, 59));

  for (let minute = 60; minute <= 24 * 60; minute += 1) now = mergeNow(now, nowOf(minute - 1, minute));

  expect(numbers(now)).toEqual(range(24 * 60 - 59, 24 * 60));
});

test('minutes before a gap are dropped, and the gap is known', () => {
  const known = nowOf(...range(0, 59));

  expect(hasGap(known, nowOf(59, 60))).toBe(false);
  expect(hasGap(known, nowOf(60, 61))).toBe(false);
  expect(hasGap(known, nowOf(61, 62))).toBe(true);
  expect(numbers(mergeNow(known, nowOf(200, 201)))).toEqual([200, 201]);
  expect(hasGap(undefined, nowOf(1, 2))).toBe(false);
});
