import { expect, test } from 'vitest';
import { createScrubber, createTextScrubber } from '../../../src/gateway/answer/scrub.ts';

const scrub = (secrets: readonly string[], text: string) =>
  createScrubber(secrets).scrub(Buffer.from(text)).toString();

test('takes every secret out, wherever it stands', () => {
  expect(scrub(['sk-secret-1', 'gw_secret_2'], 'sk-secret-1 Grüße gw_secret_2sk-secret-1')).toBe(
    '[secret] Grüße [secret][secret]',
  );
});

test('gives a text without secrets back as it is', () => {
  const text = Buffer.from('nothing here');

  expect(createScrubber(['sk-secret-1']).scrub(text)).toBe(text);
});

test('leaves no rest of a secret that begins with another', () => {
  expect(scrub(['sk-secret', 'sk-secret-and-more'], 'it was sk-secret-and-more')).toBe('it was [secret]');
});

test('does not take short texts for secrets', () => {
  expect(scrub(['', 'a', 'short'], 'a short text')).toBe('a short text');
});

test('finds a secret that JSON or a URL writes in another way', () => {
  const secret = 'pa"ss/wörd\\key';

  expect(scrub([secret], JSON.stringify({ error: `bad key ${secret}` }))).toBe(
    '{"error":"bad key [secret]"}',
  );
  expect(scrub([secret], `https://x.example?key=${encodeURIComponent(secret)}`)).toBe(
    'https://x.example?key=[secret]',
  );
});

test('takes secrets out of short texts in the same way', () => {
  const secret = 'pa"ss/wörd\\key';
  const scrubText = createTextScrubber([secret]);

  expect(scrubText(`ECONNRESET: ${secret}, ${encodeURIComponent(secret)}`)).toBe(
    'ECONNRESET: [secret], [secret]',
  );
});
