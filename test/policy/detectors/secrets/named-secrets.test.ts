import { describe, expect, test } from 'vitest';
import { atLeast } from '../../../../src/policy/detectors/detector.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';
import { drawKey } from '../labelled-set/draw-key.ts';
import { createRandom } from '../labelled-set/random.ts';

const possible = atLeast(secrets, 'possible');
const value = 'VEZcUbZrklOMAzaFeVie25qg';

describe('a value assigned to the name of a secret', () => {
  test.each([
    `password = "${value}"`,
    `https://api.example.com/items?limit=5&access_token=${value}&page=2`,
    `password:\n  "${value}"`,
    `日本語のパスワード：${value}`,
    `message: "login\\npassword=${value}\\nbye"`,
    `redirect?next=%2Fhome%3Fpassword%3D${value}`,
  ])('is found: %s', (text) => {
    expect(found(possible, text)).toEqual([value]);
  });

  test.each([
    'password = getPassword("main", 42)',
    'token = config.auth.token2',
    'secret_path = "/run/secrets/db-password-1"',
    '"primaryKey": "order_line_number_2024"',
    'const passwordRegex = "^(?=.*[0-9])[A-Za-z0-9]{8,}$"',
    'password: "correct-horse-battery-staple"',
    'token_type_hint="access_token_v2_hint"',
    'docker run -p 8080:8080 registry.example.org/app:v2.4.1-alpine3',
    'auth: ("user.name", "user.displayName2")',
    'https://example.org/list?sort=asc&key=customer-name-2',
    'kubectl get secret app-credentials-2 -o yaml',
    'jwt.verify(token, process.env.JWT_SECRET_2)',
    'set -x EDITOR /usr/bin/vim9',
    'variable "token_ttl" { default = "3600" }',
  ])('is left alone: %s', (text) => {
    expect(found(possible, text)).toEqual([]);
  });

  test.each([
    'PORT=8080\nACME_API_KEY={}\nDEBUG=false',
    '  acme_access_token: "{}"',
    '{"acmeClientSecret": "{}"}',
    "export ACME_SECRET='{}'",
  ])('is likely if it is random, in any alphabet and length that services use: %s', (template) => {
    const formats = [
      ...[30, 32, 34, 40, 64].map((length) => `<hex:${length}>`),
      ...[20, 24, 26, 30, 32, 50, 64].map((length) => `<lower:${length}>`),
      ...[17, 20, 22, 25, 33, 40, 64, 80].map((length) => `<alnum:${length}>`),
    ];
    const keys = formats.map((format, seed) => drawKey(createRandom(seed), format));

    expect(keys.filter((key) => !found(secrets, template.replace('{}', key)).includes(key))).toEqual([]);
    expect(secrets.find(template.replace('{}', value))[0]?.why).toMatch(/^named .*, random$/);
  });

  test.each([
    'passwordResetTokenExpirationTime = "configuration.default.value"',
    '"cacheKey": "d41d8cd98f00b204e9800998ecf8427e"',
    'primary_key: 3f2c9ad871be4c0d9e6f',
    '"integrity_token_hash": "9b74c9897bac770ffc029102a200c5de"',
    'next_page_token=CAUQAA8f3kd92mdkeio2',
  ])('is not likely where the name tells of something else: %s', (text) => {
    expect(found(secrets, text)).toEqual([]);
  });

  test.each(['password = "Tr4vel-Mug!"', `the password is ${value}`])(
    'is only possible, and not found by default, if it is short or in prose: %s',
    (text) => {
      expect(possible.find(text)).toMatchObject([{ confidence: 'possible', why: 'named a password' }]);
      expect(secrets.find(text)).toEqual([]);
    },
  );

  test.each([
    'the key is',
    'my token is',
    'the secret key is',
    'the key is now',
    "the API key's",
    'the credentials are',
  ])('is likely behind words that announce it: %s', (words) => {
    expect(found(secrets, `${words} API_KEY=${value}`)).toEqual([value]);
  });

  test('is likely in a connection string', () => {
    const [finding] = possible.find(`Server=db;User Id=app;Password=${value};Encrypt=true`);

    expect(finding).toMatchObject({ confidence: 'likely', why: 'connection string' });
  });
});
