import { expect, test } from 'vitest';
import { createTextScrubber, Scrubber } from '../../src/gateway/scrub.ts';
import { growth } from '../kit/growth.ts';
import { createRandom } from '../kit/random.ts';

const scrub = (secrets: readonly string[], text: string) =>
  new Scrubber(secrets).bytes(Buffer.from(text)).toString();

const odd = 'pa"ss/wörd\\key';
const plain = 'sk-secret/1+2';
const inEscapes = [...plain].map((each) => `\\u00${each.charCodeAt(0).toString(16)}`).join('');

// biome-ignore format: a case a line
test.each([
  ['every secret, wherever it is', ['sk-secret-1', 'gw_secret_2'], 'sk-secret-1 Grüße gw_secret_2sk-secret-1', '[secret] Grüße [secret][secret]'],
  ['no rest of one that begins with another', ['sk-secret', 'sk-secret-and-more'], 'it was sk-secret-and-more', 'it was [secret]'],
  ['no short text', ['', 'a', 'short'], 'a short text', 'a short text'],
  ['one as JSON writes it', [odd], JSON.stringify({ error: `bad key ${odd}` }), '{"error":"bad key [secret]"}'],
  ['one as a URL writes it', [odd], `https://x.example?key=${encodeURIComponent(odd)}`, 'https://x.example?key=[secret]'],
  ['one in needless escapes', [plain], `{"a":"${inEscapes}","b":"\\u00e9"}`, '{"a":"[secret]","b":"\\u00e9"}'],
  ['one with an escaped slash', [plain], '{"a":"sk-secret\\/1+2 \\\\n"}', '{"a":"[secret] \\\\n"}'],
  ['one in some escapes', [plain], '{"a":"\\u0073k-secret/1\\u002B2"}', '{"a":"[secret]"}'],
])('scrubs %s', (_what, secrets, text, expected) => {
  expect(scrub(secrets, text)).toBe(expected);
});

test.each(['nothing here', '{"html":"\\u003cb\\u003e \\u0073k-other \\/ \\u00e9"}'])(
  'leaves %s, which has no secret, as it is',
  (written) => {
    const text = Buffer.from(written);

    expect(new Scrubber([plain]).bytes(text)).toBe(text);
  },
);

test('finds secrets wherever they stand in long random texts, and nothing else', () => {
  const random = createRandom(7);
  const letters = 'abcdefgh-_0123';
  const word = (length: number) =>
    Array.from({ length }, () => letters.charAt(random.below(letters.length))).join('');
  for (let round = 0; round < 300; round += 1) {
    const secrets = Array.from({ length: 1 + random.below(6) }, () => word(8 + random.below(60)));
    const parts = Array.from({ length: 20 }, () =>
      random.below(10) < 4 ? random.of(secrets) : word(random.below(90)),
    );
    const text = parts.join(' ');
    const expected = [...secrets]
      .sort((one, other) => other.length - one.length)
      .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);

    expect(scrub(secrets, text)).toBe(expected);
  }
});

test('scrubs secrets in short texts in the same way', () => {
  const secret = 'pa"ss/wörd\\key';
  const scrubText = createTextScrubber([secret]);

  expect(scrubText(`ECONNRESET: ${secret}, ${encodeURIComponent(secret)}`)).toBe(
    'ECONNRESET: [secret], [secret]',
  );
});

test('credentials that came with requests stay prepared, a bounded number of characters of them', () => {
  const scrubber = new Scrubber([]);
  const usual = scrubber.with(['eyJ-login-of-somebody']);
  expect(scrubber.with(['eyJ-login-of-somebody'])).toBe(usual);

  for (let i = 0; i < 12; i += 1) scrubber.with([`${i}`.repeat(12_000)]);
  expect(scrubber.with(['eyJ-login-of-somebody'])).not.toBe(usual);
});

test('one that scrubs further secrets scrubs them besides its own, and lists all', () => {
  const scrubber = new Scrubber(['sk-secret-1']).with(['eyJ-login-2']);

  expect(scrubber.bytes(Buffer.from('sk-secret-1, eyJ-login-2')).toString()).toBe('[secret], [secret]');
  expect(scrubber.text('sk-secret-1, eyJ-login-2')).toBe('[secret], [secret]');
  expect(scrubber.secrets).toEqual(['sk-secret-1', 'eyJ-login-2']);
});

test.each([
  ['random text', (word: () => string) => word()],
  ['the beginning of all secrets', () => 'gw_'],
  ['nearly a secret', () => 'gw_0123456789abcdefghijklmnopqrstuv!'],
])('hundreds of secrets cost hardly more than a few, in %s', (_, unit) => {
  const random = createRandom(11);
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_';
  const word = () => Array.from({ length: 32 }, () => letters.charAt(random.below(letters.length))).join('');
  const secrets = ['gw_0123456789abcdefghijklmnopqrstuvwx', ...Array.from({ length: 999 }, word)];
  const text = Buffer.from(
    Array.from({ length: 60_000 }, () => unit(word))
      .join('')
      .slice(0, 1_000_000),
  );
  const scrubbers = { small: new Scrubber(secrets.slice(0, 5)), large: new Scrubber(secrets) };

  expect(growth((scrubber) => scrubber.bytes(text), { ...scrubbers, limit: 50 })).toBeLessThan(50);
});
