// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what files of settings say
import { describe, expect, test } from 'vitest';
import { atLeast } from '../../../../src/policy/detectors/detector.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';

const possible = atLeast(secrets, 'possible');
const value = 'VEZcUbZrklOMAzaFeVie25qg';

describe('a value assigned to the name of a secret', () => {
  test.each([
    `password = "${value}"`,
    `acme_api_key = "${value}"`,
    `{\\"config\\": {\\"client_secret\\": \\"${value}\\"}}`,
    `Server=db;User Id=app;Password=${value};`,
    `curl -u admin:${value} https://api.example.com`,
    `https://api.example.com/items?limit=5&access_token=${value}&page=2`,
    `Authorization: Bearer ${value}`,
    `password:\n  "${value}"`,
    `日本語のパスワード：${value}`,
    `message: "login\\npassword=${value}\\nbye"`,
    `redirect?next=%2Fhome%3Fpassword%3D${value}`,
  ])('is found: %s', (text) => {
    expect(found(possible, text)).toEqual([value]);
  });

  test.each([
    'password = getPassword("main", 42)',
    'api_key: ${ACME_API_KEY}',
    'token = config.auth.token2',
    'secret_path = "/run/secrets/db-password-1"',
    '"integrity": "sha512-9jxXvHcCqzTlZ0k3XgM6bXv3kq0T9u2m5w8y1a4c7e=="',
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

  test('is likely if it is random', () => {
    const text = `password = "${value}"`;

    expect(secrets.find(text)).toMatchObject([{ confidence: 'likely', why: 'named a password, random' }]);
  });

  test.each(['password = "Tr4vel-Mug!"', `the password is ${value}`])(
    'is only possible, and not found by default, if it is short or in prose: %s',
    (text) => {
      expect(possible.find(text)).toMatchObject([{ confidence: 'possible', why: 'named a password' }]);
      expect(secrets.find(text)).toEqual([]);
    },
  );

  test('is likely in a connection string', () => {
    const [finding] = possible.find(`Server=db;User Id=app;Password=${value};Encrypt=true`);

    expect(finding).toMatchObject({ confidence: 'likely', why: 'connection string' });
  });
});
