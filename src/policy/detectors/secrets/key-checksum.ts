import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Characters of a gateway key's random part, and of the checksum after it. */
export const keyBodyLength = 32;
export const keyChecksumLength = 6;

/**
 * The last six characters of a gateway key: CRC-32 of its 32 random characters in base 62 (digits, upper case, lower
 * case), left-padded with zeros. They let a scanner distinguish a key from a lookalike.
 */
export function keyChecksum(body: string): string {
  let rest = crc32(body);
  let checksum = '';
  for (let place = 0; place < keyChecksumLength; place += 1) {
    checksum = alphabet.charAt(rest % alphabet.length) + checksum;
    rest = Math.floor(rest / alphabet.length);
  }
  return checksum;
}
