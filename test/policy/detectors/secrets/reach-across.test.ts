import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { reachAcross } from '../../../../src/policy/detectors/secrets/reach-across.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { scale } from '../../../kit/scale.ts';
import { base62, createRandom } from '../labelled-set/random.ts';

const random = createRandom(51);
const drawn = (length: number) => random.text(length, base62);
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const wrapped = (text: string, width: number) => text.replace(new RegExp(`.{${width}}`, 'g'), '$&\n');
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const token = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded({ sub: drawn(900) })}.${drawn(43)}`;

const kinds: readonly (readonly [string, string])[] = [
  ['a password', `password: ${drawn(20)}`],
  ['a key', `AWS_SECRET_ACCESS_KEY=${drawn(40)}`],
  ['a value of 390 characters', `api_key: ${drawn(390)}`],
  ['a private key', privateKey],
  ['a private key with escaped line breaks', privateKey.replaceAll('\n', '\\n')],
  ['a token', token],
  ['a token in lines', wrapped(token, 64)],
  ['a key in lines', wrapped(`sk-proj-${drawn(120)}`, 30)],
  [
    'a setting in quotation marks',
    `\nexport DEPLOY_PASSWORD="${Array.from({ length: 90 }, () => drawn(9)).join(' ')}"\n`,
  ],
  ['a pass phrase', 'password: "tangerine velvet orbit mustard copper"'],
  [
    'a statement',
    `insert into users (id, ${'a_name, '.repeat(40)}password) values (1, ${"'x', ".repeat(40)}'${drawn(14)}')`,
  ],
  ['a cookie', `Cookie: ${'lang=en; '.repeat(20)}sessionid=${drawn(32)}; a=b`],
  [
    'a command',
    `aws ssm put-parameter --name /shop/db --description "${'of the shop '.repeat(6)}" --value ${drawn(24)}`,
  ],
  ['a pipe', `echo ${drawn(24)} | docker login registry.internal --username deploy --password-stdin`],
  ['an address', `postgres://deploy:${drawn(60)}@db.internal/shop`],
];

const filling =
  'We looked at the token of the session, and the key stayed valid: no error in the log. '.repeat(60);

/** What is found over the place where two texts meet, by how much of them is read. */
function crossing(before: string, after: string, reach: number): string[] {
  const tail = before.slice(-reach);
  return (
    secrets.possible
      ?.find(tail + after.slice(0, reach))
      .filter(({ start, end }) => start < tail.length && end > tail.length)
      .map(
        ({ start, end, confidence, why }) =>
          `${tail.length - start} ${end - tail.length} ${confidence} ${why}`,
      ) ?? []
  );
}

test.each(kinds)('%s that is cut anywhere is found as where all is read', (_name, secret) => {
  const [front, back] = [`${filling}\n`, `\n${filling}`];
  const step = scale(Math.max(1, Math.floor(secret.length / 40)), 1);
  let found = 0;

  for (let cut = 1; cut < secret.length; cut += step) {
    const before = front + secret.slice(0, cut);
    const after = secret.slice(cut) + back;
    const whole = crossing(before, after, before.length + after.length);
    expect(crossing(before, after, reachAcross(before, after))).toEqual(whole);
    found += whole.length;
  }

  expect(found).toBeGreaterThan(0);
});

test('of ordinary texts a few hundred characters are read', () => {
  expect(reachAcross(filling, filling)).toBeLessThan(400);
});
