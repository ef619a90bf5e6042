import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

// Node reads certificates but makes none: the few fields of X.509 that a test needs (RFC 5280, section 4.1).

export interface Identity {
  /** PEM, as `tls.createServer` takes them. */
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly cert: string;
  /** A certificate for host names and addresses of IPv4, valid for some days from now; by default from yesterday on. */
  issue(names: readonly string[], days?: Validity): Identity;
}

interface Validity {
  readonly from: number;
  readonly until: number;
}

/** An authority that nobody trusts by itself. */
export function makeAuthority(name: string): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = distinguishedName(name);
  const make = (subject: Buffer, key: KeyObject, extensions: readonly Buffer[], days: Validity) =>
    certificate({ issuer, subject, key, extensions, days, signingKey: own.privateKey });
  const isAuthority = extension('551d13', sequence(tagged(0x01, Buffer.from([0xff]))));
  return {
    cert: make(issuer, own.publicKey, [isAuthority], currently),
    issue: (names, days = currently) => {
      const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const alternatives = sequence(...names.map(alternativeName));
      const subject = distinguishedName(names[0] ?? '');
      return {
        cert: make(subject, leaf.publicKey, [extension('551d11', alternatives)], days),
        key: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      };
    },
  };
}

const currently: Validity = { from: -1, until: 1 };

interface Fields {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly key: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly days: Validity;
  readonly signingKey: KeyObject;
}

function certificate({ issuer, subject, key, extensions, days, signingKey }: Fields): string {
  const ecdsaWithSha256 = sequence(tagged(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(8)]);
  const toSign = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))), // version 3
    tagged(0x02, serial),
    ecdsaWithSha256,
    issuer,
    sequence(time(days.from), time(days.until)),
    subject,
    key.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', toSign, signingKey);
  const whole = sequence(toSign, ecdsaWithSha256, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(name: string): Buffer {
  const type = tagged(0x06, Buffer.from('550403', 'hex'));
  return sequence(tagged(0x31, sequence(type, tagged(0x0c, Buffer.from(name)))));
}

function alternativeName(name: string): Buffer {
  const isAddress = /^[\d.]+$/.test(name);
  return isAddress ? tagged(0x87, Buffer.from(name.split('.').map(Number))) : tagged(0x82, Buffer.from(name));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(tagged(0x06, Buffer.from(id, 'hex')), tagged(0x04, value));
}

function time(daysFromNow: number): Buffer {
  const date = new Date(Date.now() + daysFromNow * 86_400_000).toISOString();
  return tagged(0x17, Buffer.from(`${date.replace(/\D/g, '').slice(2, 14)}Z`));
}

function sequence(...items: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(items));
}

/** DER: a tag, the length, the content. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
