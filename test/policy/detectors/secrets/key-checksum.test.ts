import { expect, test } from 'vitest';
import { keyChecksum } from '../../../../src/policy/detectors/secrets/key-checksum.ts';

// Worked out with another program's CRC-32.
test.each([
  ['abcdefghijklmnopqrstuvwxyz012345', '1nc0VA'],
  ['00000000000000000000000000000000', '2wjyrI'],
  ['ZZZZZZZZZZZZZZZZzzzzzzzzzzzzzzzz', '4D3RYT'],
])('of %s is %s', (body, checksum) => {
  expect(keyChecksum(body)).toBe(checksum);
});
