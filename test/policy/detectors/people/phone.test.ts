import { expect, test } from 'vitest';
import { phone } from '../../../../src/policy/detectors/people/phone.ts';
import { found } from '../found.ts';

test.each([
  ['+1 415 555 0123'],
  ['+442079460958'],
  ['+49 (0)171 5550123'],
  ['(415) 555-0123'],
  ['415-555-0123'],
  ['06 12 45 33 17'],
  ['090-2345-6789'],
])('finds %s without being told what it is', (number) => {
  expect(found(phone, `Try ${number} later.`)).toEqual([number]);
});

test.each([
  ['Tel. 030 2345678', '030 2345678'],
  ['电话：13812345678', '13812345678'],
  ['call me at 4155550123', '4155550123'],
])('finds the digits that %j announces', (text, number) => {
  expect(found(phone, text)).toEqual([number]);
});

test.each([
  ['a time', '2025-03-12 10:11:12 +0200'],
  ['an added line of a patch', '@@ -1 +1,2 @@\n+447123456789\n+const x = 1;'],
  ['ten digits', '4155550123'],
  ['a range', '100-200-3000'],
  ['a part number', 'part no 415-555-0123'],
  ['counting', '01 02 03 04 05'],
  ['a table of code points', '0043 0063 0073'],
  ['a sum', 'x+14155550123'],
  ['a country that is none', '+999 12345678'],
])('takes %s for no number', (_, text) => {
  expect(found(phone, text)).toEqual([]);
});
