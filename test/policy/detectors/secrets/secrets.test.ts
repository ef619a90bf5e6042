import { expect, test } from 'vitest';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';
import { base62, createRandom } from '../labelled-set/random.ts';

const random = createRandom(42);
const drawn = (length: number) => random.text(length, base62);

test('finds two keys in one text, each whole', () => {
  const one = `sk-proj-${drawn(60)}`;
  const two = `ghp_${drawn(36)}`;

  expect(found(secrets, `first ${one}, then ${two}.`)).toEqual([one, two]);
});

test('finds a secret access key of AWS that ends in a sign', () => {
  const key = `${drawn(39)}+`;

  expect(found(secrets, `aws_secret_access_key = ${key}\n`)).toEqual([key]);
});

test('leaves the host of a URL with a password', () => {
  expect(found(secrets, 'postgres://app:Kx72pQ9r@db.internal/app')).toEqual(['postgres://app:Kx72pQ9r']);
});

test('finds a key next to letters of another script', () => {
  const key = `npm_${drawn(36)}`;

  expect(found(secrets, `请使用${key}谢谢`)).toEqual([key]);
});

test('finds a key with an invisible character in it', () => {
  const key = `sk-ant-api03-\u200b${drawn(93)}AA`;

  expect(found(secrets, key)).toEqual([key]);
});

test('is not switched off by a comment', () => {
  const key = `ghp_${drawn(36)}`;

  expect(found(secrets, `// secretlint-disable\nconst key = "${key}";`)).toEqual([key]);
});

test('finds the address of a Slack webhook', () => {
  const hook = `https://hooks.slack.com/services/T01ABCDEFGH/B02ABCDEFGH/${drawn(24)}`;

  expect(found(secrets, hook)).toEqual([hook]);
});

test.each([20, 21, 22])('finds a token of 1Password, however its length falls (%d)', (length) => {
  const account = {
    email: `${random.hex(12)}@example.com`,
    secretKey: random.hex(length),
    srpX: random.hex(128),
  };
  const token = `ops_${Buffer.from(JSON.stringify(account)).toString('base64')}`;

  expect(found(secrets, `OP_TOKEN=${token}`)).toEqual([token]);
});

test('stays a key when a stock word is hung onto it', () => {
  expect(found(secrets, `sk-proj-${drawn(60)}example`)).toHaveLength(1);
});

test.each([
  'AKIAIOSFODNN7EXAMPLE',
  'sk-ant-api03-your-key-here',
  `ghp_${'x'.repeat(36)}`,
  'sk-1234567890abcdef1234567890abcdef',
  'postgres://postgres:postgres@localhost/app',
  'postgres://{user}:{password}@{host}/app',
  'SG.utils.format',
  'npm_config_registry_timeout_default_valu',
  'class="sk-estimator-doc-link fitted"',
])('takes the example %s for none', (text) => {
  expect(found(secrets, text)).toEqual([]);
});
