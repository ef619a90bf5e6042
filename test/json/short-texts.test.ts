import { expect, test } from 'vitest';
import { KnownBodies } from '../../src/json/known-bodies.ts';
import { ShortTexts } from '../../src/json/short-texts.ts';
import { createRandom } from '../policy/search/random.ts';

test('gives the text of the bytes, whatever texts it has met', () => {
  const random = createRandom(7);
  const texts = new ShortTexts();

  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: random.below(33) }, () => random.of(['a', 'b', '_', '\0'])).join('');
    const bytes = Buffer.from(`"${text}"`);

    expect(texts.read(bytes, 1, bytes.length - 1)).toBe(text);
  }
});

test.each([
  ['longer ones', 'x'.repeat(33)],
  ['other characters than those of ASCII', 'é'],
])('leaves %s to others', (_what, text) => {
  const bytes = Buffer.from(text);

  expect(new ShortTexts().read(bytes, 0, bytes.length)).toBeUndefined();
});

test('bodies that are read by one reader share it, and no others do', () => {
  const bytes = Buffer.from('{"a":"b"}');
  const [one, other] = [new KnownBodies(), new KnownBodies()];

  expect(one.read(bytes).shortTexts).toBe(one.read(bytes).shortTexts);
  expect(one.read(bytes).shortTexts).not.toBe(other.read(bytes).shortTexts);
});
