// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what commands say
import { describe, expect, test } from 'vitest';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';
import { base62, createRandom } from '../labelled-set/random.ts';

// Commands, headers and files of settings as people paste them, with a random value in the place of the credential.

const random = createRandom(49);
const drawn = (length = 24) => random.text(length, base62);
const login = (password: string) => Buffer.from(`deploy:${password}`).toString('base64');

// biome-ignore format: a case a line
const forms: readonly (readonly [string, string])[] = [
  ['a header of curl', 'curl -H "Authorization: Bearer {}" https://api.internal/v1'],
  ['a header of curl, in single quotation marks', "curl -s -H 'authorization: bearer {}' https://api.internal/v1"],
  ['a header in JSON', '{"headers": {"Authorization": "Bearer {}", "Accept": "*/*"}}'],
  ['a header in JSON within a string', '"{\\"Authorization\\": \\"Bearer {}\\"}"'],
  ['a header of a request', 'GET /v1 HTTP/1.1\nHost: api.internal\nAuthorization: Token {}\n'],
  ['a user of curl', 'curl -u deploy:{} https://repo.internal/x'],
  ['a user of curl, long', 'curl --user "deploy:{}" -T a.tgz https://repo.internal/x'],
  ['a key as the user of curl', 'curl https://api.internal/v1/charges -u {}:'],
  ['a password of mysql', 'mysql -h db.internal -u root -p{} shop < dump.sql'],
  ['a password of mysqldump', 'mysqldump -uroot -p{} shop'],
  ['a login of docker', 'docker login -u ci -p {} registry.internal'],
  ['a login of docker, long', 'docker login registry.internal --username ci --password {}'],
  ['a token of an option', 'deployctl release --token {} --env prod'],
  ['a token of an option with a sign', 'deployctl release --token={} --env prod'],
  ['a token of an option in a list', '["deployctl", "--api-token", "{}"]'],
  ['.netrc', 'machine api.internal login deploy password {}'],
  ['.netrc in lines', 'machine api.internal\n  login deploy\n  password {}\n'],
  ['.pgpass', 'db.internal:5432:shop:deploy:{}'],
  ['.pgpass with wildcards', '*:*:*:deploy:{}'],
  ['a session cookie', 'Cookie: theme=dark; sessionid={}; lang=en'],
  ['a session cookie that is set', 'Set-Cookie: connect.sid={}; Path=/; HttpOnly'],
  ['a session cookie of curl', "curl -b 'x=1' -H 'Cookie: PHPSESSID={}' https://shop.internal"],
  ['a password of redis', 'redis-cli -h cache.internal -a {} ping'],
  ['a password of sshpass', 'sshpass -p {} ssh deploy@host'],
];

// One in thirty random values has runs of letters as words have them.
test.each(forms)('a random value in %s is likely', (_name, form) => {
  const missed = Array.from({ length: 200 }, () => drawn()).filter(
    (value) => !found(secrets, form.replace('{}', value)).includes(value),
  );

  expect(missed.length).toBeLessThanOrEqual(16);
});

test.each(['curl -H "Authorization: Basic {}" https://x.internal', '{"Authorization": "Basic {}"}'])(
  'a random password in the login of %s is likely',
  (form) => {
    const value = login(drawn());

    expect(found(secrets, form.replace('{}', value))).toEqual([value]);
  },
);

describe('what stands there in documents is not', () => {
  const values = [
    '$TOKEN',
    '${TOKEN}',
    '<token>',
    'YOUR_TOKEN',
    'my-secret-token',
    'xxxxxxxxxxxxxxxxxxxxxxxx',
    'changeme',
    'your-api-key-goes-here',
  ];

  test.each(forms)('%s', (_name, form) => {
    for (const value of values) expect(found(secrets, form.replace('{}', value))).toEqual([]);
  });

  test.each([
    ['a login of the RFC', 'Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='],
    ["a form's token", 'Cookie: csrftoken=Zq81mLxW03bKpYt5RuVnDc7e'],
    ['a mount', 'docker run -p 127.0.0.1:8080:80 -v /srv/data/registry:/var/lib/registry registry:2'],
    ['a path of an option', 'deployctl release --token-file /run/secrets/deploy-token'],
    ['directories', 'mkdir -p /var/lib/acme/releases/2026-11-28T10'],
    ['a user and a group', 'docker run -u 1000:1000 --rm alpine'],
    ['ports', 'db.internal:5432:shop:deploy:readonly-user-of-reports'],
  ])('%s', (_name, text) => {
    expect(found(secrets, text)).toEqual([]);
  });
});

test.each([
  'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  'ghp_0123456789abcdefABCDEF0123456789abcd',
  'AKIAABCDEFGHIJKLMNOP',
])('a key of a fixed form that only counts is one: %s', (key) => {
  expect(found(secrets, `token is ${key}.`)).toEqual([key]);
});

test.each([
  `ghp_${'x'.repeat(36)}`,
  `ghp_${'a'.repeat(36)}`,
  `ghp_${'EXAMPLE'.repeat(6).slice(0, 36)}`,
  'ghp_yourGitHubTokenGoesHereyour_xxxxxxxx',
  'AKIAIOSFODNN7EXAMPLE',
  'AKIAXXXXXXXXXXXXXXXX',
])('one that says that it is an example is none: %s', (key) => {
  expect(found(secrets, `token is ${key}.`)).toEqual([]);
});
