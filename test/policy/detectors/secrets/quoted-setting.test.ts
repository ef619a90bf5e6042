import { describe, expect, test } from 'vitest';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { policyOf, saying } from '../../deciding.ts';
import { found } from '../found.ts';

/** Of many lines, none a word, and as long as a file of settings has them. */
const lines = Array.from({ length: 50 }, (_, at) => `kJ8s Lq92#mX0a${at}Pd Zx81mQp+Rt73kLb`).join('\n');

describe('a value in quotation marks in a file of settings', () => {
  test.each([
    ['DB_PASSWORD="', 'p@ss w0rd Xq7!', '"'],
    ['PORT=80\nDB_PASSWORD="', 'p@ss w0rd Xq7!', '" # the old one\nHOST=db'],
    ['PORT=80\r\nDB_PASSWORD="', 'p@ss w0rd Xq7!', '"\r\nHOST=db'],
    ['DB_PASSWORD="', 'p@ss \\"w0rd\\" Xq7!', '"'],
    ['DB_PASSWORD="', "it's n0t Xq7!k L#2m", '"'],
    ['\texport DB_PASSWORD= "', 'p@ss w0rd Xq7!', '"\n'],
    ['APP_SECRET="', 'f1r5tPart9Kq\ns3c0ndPart7Zx', '"'],
    ['APP_SECRET="', 'f1r5tPart9Kq\r\ns3c0ndPart7Zx', '"\r\nHOST=db'],
    ["export APP_SECRET='", 'f1r5tPart9Kq\\ns3c0ndPart7Zx', "'"],
    ['API_TOKEN="', '\nkJ8sLq92mX0aPd\nZx81mQpRt73kLb\n', '"\n'],
    ['HOST="db one"\nAPI_TOKEN="', lines, '"\nPORT="80"'],
  ])('is found whole at likely: %s%s%s', (before, value, after) => {
    expect(found(secrets, `${before}${value}${after}`)).toEqual([value]);
  });

  test.each([
    '  PASSWORD = "Please enter a password of 8-32 characters (1 upper-case, 1 digit)!"',
    '    secret = "generate a 32-byte base64 string, e.g. for HS256 and RS256"',
    'DB_PASSWORD="xxxx xxxx xxxx xxxx"',
    'PASSWORD_HINT="p@ss w0rd Xq7!"',
    'SECRET_FILES="f1r5tPart9Kq s3c0ndPart7Zx"',
    'SIGNING_KEY="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG0k9vQ2xZr7 me@host"',
    'GPG_KEYS="94AE36675C464D64 0xBAFA68DD7434390B"',
    'PASS="\\033[32m[ PA55 ]\\033[0m 0k!a1b2"',
    'TOKEN_PATTERN="^[a-z0-9]+ \\d{3}$"',
    "SECRET='It is\nnot closed, and don't end here",
    'if PASSWORD="p@ss w0rd Xq7!"',
  ])('is left alone: %s', (text) => {
    expect(found(secrets, text)).toEqual([]);
  });

  test('is left alone where it is longer than what a stream holds back', () => {
    expect(found(secrets, `APP_SECRET="${`${lines}\n`.repeat(3)}"`)).toEqual([]);
  });

  test('is masked in a request, with its line breaks and quotation marks', () => {
    const decide = policyOf({ id: 'secrets', action: 'mask', when: { text: { detect: ['secrets'] } } });
    const text = (value: string) => `Why?\nDB_PASSWORD="${value}"\nHOST=db`;

    for (const value of ['p@ss w0rd Xq7!', 'p@ss \\"w0rd\\" Xq7!', 'f1r5tPart9Kq\ns3c0ndPart7Zx', lines]) {
      const body = decide(saying(text(value))).redacted?.value(0) as ReturnType<typeof saying>;
      const [before = '', after = ''] = text('|').split('|');
      const sent = String(body.messages[0]?.content);

      expect(sent.startsWith(before) && sent.endsWith(after)).toBe(true);
      expect(sent.slice(before.length, sent.length - after.length)).toMatch(/^[\w-]+$/);
    }
  });
});
