const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

// CRC-32 of ISO 3309 (the one of gzip and PNG), bit by bit: keys are short and rare.
const polynomial = 0xedb88320;

/** The six characters that end a generated key: the CRC-32 of its random part in base62, padded with zeros. */
export function keyChecksum(body: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(body, 'utf8')) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? polynomial : 0);
  }
  let rest = ~crc >>> 0;
  let text = '';
  for (let place = 0; place < 6; place += 1) {
    text = alphabet.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
