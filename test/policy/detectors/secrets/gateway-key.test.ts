import { expect, test } from 'vitest';
import { createGatewayKeyDetector } from '../../../../src/policy/detectors/secrets/gateway-key.ts';
import { keyChecksum } from '../../../../src/policy/detectors/secrets/key-checksum.ts';
import { found } from '../found.ts';

const body = 'abcdefghijklmnopqrstuvwxyz012345';
const key = `gw_${body}${keyChecksum(body)}`;
const detector = createGatewayKeyDetector(['provider-key-0123456789', 'short', 'a key with blanks']);

test('finds a gateway key of any value by its checksum', () => {
  expect(found(detector, `x-api-key: ${key}`)).toEqual([key]);
});

test('finds a gateway key within a longer word', () => {
  expect(found(detector, `Bearer_${key}_old`)).toEqual([key]);
});

test('finds the exact configured values', () => {
  const text = 'use provider-key-0123456789 or "a key with blanks"';

  expect(found(detector, text).toSorted()).toEqual(['a key with blanks', 'provider-key-0123456789']);
});

test('looks for no value of fewer than twelve characters', () => {
  expect(found(detector, 'in short')).toEqual([]);
});

test('finds a key with invisible or full-width characters in it, in its whole length', () => {
  const hidden = `gw_\u200b${body.slice(0, 9)}\u00ad${key.slice(12, -1)}${String.fromCharCode(key.charCodeAt(40) + 0xfee0)}`;

  expect(found(detector, `see ${hidden}.`)).toEqual([hidden]);
});

test('ignores a key with a wrong checksum', () => {
  expect(found(detector, `gw_${body}AAAAAA`)).toEqual([]);
});

test('reaches as far as the longest value', () => {
  expect(createGatewayKeyDetector([]).reach).toBe(41);
  expect(createGatewayKeyDetector(['k'.repeat(100)]).reach).toBe(100);
});

// Worked out with another program's CRC-32.
test.each([
  ['abcdefghijklmnopqrstuvwxyz012345', '1nc0VA'],
  ['00000000000000000000000000000000', '2wjyrI'],
  ['ZZZZZZZZZZZZZZZZzzzzzzzzzzzzzzzz', '4D3RYT'],
])('the checksum of %s is %s', (body, checksum) => {
  expect(keyChecksum(body)).toBe(checksum);
});
