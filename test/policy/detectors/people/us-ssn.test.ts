import { expect, test } from 'vitest';
import { usSsn } from '../../../../src/policy/detectors/people/us-ssn.ts';
import { found } from '../found.ts';

test.each([
  ['alone with hyphens', '512-43-9876', '512-43-9876'],
  ['with spaces after its name', 'SSN 512 43 9876', '512 43 9876'],
  ['in one piece after its name', 'social security number: 512439876', '512439876'],
])('finds a number %s', (_, text, number) => {
  expect(found(usSsn, text)).toEqual([number]);
});

test.each([
  ['nine digits without a name', 'row 512439876'],
  ['spaces without a name', '512 43 9876 rows'],
  ['an area that is never issued', 'SSN 666-43-9876'],
  ['a group that is never issued', 'SSN 512-00-9876'],
  ['a number voided after it was printed', 'SSN 078-05-1120'],
  ['a part number', 'part number 512-43-9876'],
  ['a longer number', '1512-43-9876'],
  ['a part of an identifier', 'ab-512-43-9876'],
])('takes %s for nothing', (_, text) => {
  expect(found(usSsn, text)).toEqual([]);
});
