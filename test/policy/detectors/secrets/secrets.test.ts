import { expect, test } from 'vitest';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';
import { base62, createRandom } from '../labelled-set/random.ts';

const random = createRandom(42);
const drawn = (length: number) => random.text(length, base62);

test('finds two keys in one text, each whole, and is not switched off by a comment', () => {
  const one = `sk-proj-${drawn(60)}`;
  const two = `ghp_${drawn(36)}`;

  expect(found(secrets, `// secretlint-disable\nfirst ${one}, then ${two}.`)).toEqual([one, two]);
});

test('finds a secret access key of AWS that ends in a sign', () => {
  const key = `${drawn(39)}+`;

  expect(found(secrets, `aws_secret_access_key = ${key}\n`)).toEqual([key]);
});

test.each(['EXAMPLE', 'kept'])('finds a key of AWS whose name ends what may be another (%s)', (word) => {
  const first = `${word}${drawn(25 - word.length)}SecretAccessKey`;
  const second = `${drawn(39)}/`;

  expect(found(secrets, `SecretAccessKey=>${first}>${second},`).join()).toContain(second);
});

test('leaves the host of a URL with a password', () => {
  expect(found(secrets, 'postgres://app:Kx72pQ9r@db.internal/app')).toEqual(['postgres://app:Kx72pQ9r']);
});

test('stays a key when a stock word is hung onto it', () => {
  expect(found(secrets, `sk-proj-${drawn(60)}example`)).toHaveLength(1);
});
