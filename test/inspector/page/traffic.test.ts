import { expect, test } from 'vitest';
import { Traffic } from '../../../src/inspector/page/traffic.ts';
import { row as rowOf } from '../traced.ts';

const row = (seq: number, status = 200) => rowOf({ seq, id: `req_${seq}`, status });

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
