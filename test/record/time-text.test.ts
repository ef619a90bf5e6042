import { expect, test } from 'vitest';
import { TimeText } from '../../src/gateway/exchange.ts';

test('a time is written as a Date writes it, also where the clock is set back', () => {
  const times = [
    784_111_777_000, 784_111_777_009.9, 784_111_799_999, 784_111_800_000, 0, 253_402_300_799_999,
  ];
  const written = new TimeText();

  expect(times.map((ms) => written.text(ms))).toEqual([
    '1994-11-06T08:49:37.000Z',
    '1994-11-06T08:49:37.009Z',
    '1994-11-06T08:49:59.999Z',
    '1994-11-06T08:50:00.000Z',
    '1970-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
  ]);
});
