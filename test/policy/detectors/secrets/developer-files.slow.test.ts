// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what files of settings say
import { describe, expect, test } from 'vitest';
import { atLeast } from '../../../../src/policy/detectors/detector.ts';
import { privateKey } from '../../../../src/policy/detectors/secrets/private-key.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';
import { drawKey } from '../labelled-set/draw-key.ts';
import { createRandom } from '../labelled-set/random.ts';

const possible = atLeast(secrets, 'possible');

/** Some texts of a template, its formats (`<hex:40>`) drawn at random. */
function fill(template: string): readonly string[] {
  return Array.from({ length: 12 }, (_, seed) =>
    template.replace(/<(?:hex|upper|lower|alnum|key|base64|digits):[\d-]+>/g, (format, at: number) =>
      drawKey(createRandom(seed * 1000 + at), format),
    ),
  );
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('what developers paste that is not secret', () => {
  test.each([
    ['the identifier of a request', '< x-amz-cf-id: ab-<key:48>=='],
    ['identifiers of a cloud', 'id = "db-<upper:26>"\nami = "ami-0<hex:16>"\ngroup_ids = ["sg-0<hex:16>"]'],
    ['identifiers of payments', '{"a": "cus_<alnum:14>", "b": "pi_3<alnum:23>", "c": "price_1<alnum:23>"}'],
    ['the subject of a user', '{"sub": "auth0|<hex:24>"}'],
    ['an ARN of a secret', 'arn:aws:secretsmanager:eu-west-1:<digits:12>:secret:prod/db-<alnum:6>'],
    ['the checksum of a secret', 'annotations:\n  checksum/secret: <hex:64>'],
    ['what is encrypted', '{"encrypted": {"token": "<base64:344>"}}'],
    ['values of sops', 'x: ENC[AES256_GCM,data:<base64:32>,iv:<base64:43>=,tag:<base64:22>==,type:str]'],
    [
      'a package in a lock file',
      'resolved "https://registry.yarnpkg.com/a-token/-/a-token-4.2.1.tgz#<hex:40>"',
    ],
    ['a checksum in a Dockerfile', 'ENV PYTHON_SHA256=<hex:64>'],
    ['the key of a cache', 'with: { path: ~/.npm, key: linux-node-<hex:64> }'],
    ['public keys', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<alnum:43> me@host'],
    ['an assembly', 'Version=4.0.0.0, Culture=neutral, PublicKeyToken=<hex:16>'],
    ['a message', 'Message-ID: <CA<alnum:50>@mail.gmail.com>'],
    ['a file in an e-mail', '\n\n<alnum:76>\n<alnum:76>\n'],
    ['a zone', '@ DNSKEY 257 3 13 <base64:86>=='],
    ['a token of a form', '<input name="authenticity_token" value="<base64:86>==">'],
    ['the address of a contract', 'address constant TOKEN = 0x<hex:40>;'],
    ['a pin of a public key', `pin-sha256="<base64:43>="; max-age=5184000`],
    ['bytes in a dump of PostgreSQL', '\\\\x<hex:64>\t2026-11-23'],
    ['a name of generated code', '__wbg_new_<hex:16> = function () {};'],
    ['a symbol', 'at _ZN15invoice7session17h<hex:16>E'],
  ])('%s', (_, template) => {
    expect(fill(template).flatMap((text) => found(possible, text))).toEqual([]);
  });

  test.each([
    'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    'SecretAccessKey: "8P+SQvWIuLnKhh8d++jpw0nNmQRBZvNEXAMPLEKEY",',
    `Authorization: Basic ${base64('user:pass')}`,
    `{"auths": {"registry.example.org": {"auth": "${base64('user:your-password')}"}}}`,
    "signIn('alice', 'Sup3rS3cret!')",
    'password: "P@ssw0rd123!"',
    'DOTENV_KEY=dotenv://:key_1234…@dotenv.example.org/vault',
    'org.example.token: key=alpha:605347 ttl=6',
    `token: ${base64('{"alg":"HS256","typ":"JWT"}').replaceAll('=', '')}`,
  ])('%s', (text) => {
    expect(found(possible, text)).toEqual([]);
  });

  test('the web token of every tutorial, whoever signed it', () => {
    const token = (payload: string, seed: number) =>
      [base64('{"alg":"HS256","typ":"JWT"}'), base64(payload), drawKey(createRandom(seed), '<key:43>')]
        .join('.')
        .replaceAll('=', '');
    const sample = token('{"sub":"1234567890","name":"John Doe","iat":1516239022}', 1);
    const real = token('{"sub":"8127340961","name":"Ada Orme","iat":1716239022}', 2);

    expect(found(possible, `Authorization: Bearer ${sample}\ntoken = "${sample}"`)).toEqual([]);
    expect(found(secrets, `Authorization: Bearer ${real}`)).toEqual([real]);
  });
});

describe('what is found beside it', () => {
  test.each([
    ['a session', '"session_id": "', '<alnum:40>'],
    ['a session in a header', 'Set-Cookie: sid=', '<alnum:64>'],
    ['a key as an identifier', 'id: "', 'acme_sk_<alnum:40>'],
    ['a login', 'Authorization: Basic ', `${base64('admin:Vq7rT2mX9c')}`],
    ['a password of small letters', 'EMAIL_HOST_PASSWORD = "', 'bmonxdcdyfnbaght'],
  ])('%s: %s', (_, before, format) => {
    for (const value of fill(format)) {
      expect(found(possible, `${before}${value}${before.endsWith('"') ? '"' : '\n'}`)).toEqual([value]);
    }
  });

  test('a salt of WordPress, drawn from all of ASCII', () => {
    const signs =
      'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@#$%^&*()-_ []{}<>~`+=,.;:/?|';
    const salts = Array.from({ length: 40 }, (_, seed) => {
      const random = createRandom(seed + 7);
      return Array.from({ length: 64 }, () => random.pick([...signs])).join('');
    });
    const foundWhole = salts.filter((salt) =>
      found(possible, `define('AUTH_KEY',         '${salt}');`).includes(salt),
    );

    expect(foundWhole.length).toBeGreaterThanOrEqual(36); // words of five letters turn up in some
  });

  test('a password that begins with an exclamation mark is found, a YAML tag is not', () => {
    expect(found(possible, 'password=!Yp7q79NXAx0MMry1tZ\n')).toEqual(['!Yp7q79NXAx0MMry1tZ']);
    expect(found(possible, 'MasterPassword: !Ref DatabasePassword')).toEqual([]);
  });

  test.each(['-', '_'])('a key that ends in %s is found whole', (sign) => {
    const keys = fill('lh_pat_<alnum:20>-<alnum:21>').map((key) => key + sign);

    expect(keys.flatMap((key) => found(secrets, `"${key}"`))).toEqual(keys);
    expect(keys.flatMap((key) => found(secrets, `KEY=${key}\n`))).toEqual(keys);
  });

  test('the key in the base64 of a file is a private key, the certificate beside it is not', () => {
    const armour = (kind: string) =>
      base64(`-----BEGIN ${kind}-----\n${fill('<base64:64>').join('\n')}\n-----END ${kind}-----\n`);
    const kubeconfig = (certificate: string, key: string) =>
      `client-certificate-data: ${certificate}\n    client-key-data: ${key}\n`;

    for (const kind of ['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY', 'OPENSSH PRIVATE KEY']) {
      const key = armour(kind);
      const text = kubeconfig(armour('CERTIFICATE'), key);
      expect(found(privateKey, text)).toEqual([key]);
      expect(found(secrets, text)).toEqual([key]);
    }
    expect(found(privateKey, kubeconfig(armour('CERTIFICATE'), armour('PUBLIC KEY')))).toEqual([]);
  });

  test('a 1Password secret key has 34 characters between its hyphens', () => {
    const keys = fill('A3-<upper:6>-<upper:6>-<upper:5>-<upper:5>-<upper:5>-<upper:5>');

    expect(keys.flatMap((key) => found(secrets, `Secret Key: ${key}`))).toEqual(keys);
  });
});
