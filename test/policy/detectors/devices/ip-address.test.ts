import { expect, test } from 'vitest';
import { ipAddress } from '../../../../src/policy/detectors/devices/ip-address.ts';
import { found } from '../found.ts';

test.each([
  ['192.168.1.42'],
  ['203.0.113.7'],
  ['10.0.0.1'],
  ['2001:db8::7'],
  ['fe80::1ff:fe23:4567:890a'],
  ['::ffff:203.0.113.7'],
])('finds %s at the end of a sentence', (address) => {
  expect(found(ipAddress, `It is ${address}.`)).toEqual([address]);
});

test('finds addresses before a port and before a prefix length', () => {
  expect(found(ipAddress, '203.0.113.7:8080 and 2001:db8::/32')).toEqual(['203.0.113.7', '2001:db8::']);
});

test.each([
  ['a version', 'version 4.0.112.20'],
  ['a section', 'see 3.2.1.4'],
  ['loopback', '127.0.0.1 and ::1'],
  ['a netmask', '255.255.255.0'],
  ['five numbers', '1.2.3.4.5'],
  ['a number too large', '256.1.2.3'],
  ['a time', '12:34:56'],
  ['a hardware address', '00:1b:44:11:3a:b7'],
  ['names of program text', 'std::cout << dead::beef'],
  ['a fingerprint', '16:27:ac:a5:76:28:2d:36'],
])('takes %s for no address', (_, text) => {
  expect(found(ipAddress, text)).toEqual([]);
});
