import { describe, expect, test } from 'vitest';
import { atLeast } from '../../../../src/policy/detectors/detector.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { expandFormat } from '../../../../src/policy/detectors/shapes/format.ts';
import { services } from '../../../../src/policy/detectors/shapes/shape.ts';
import { findUnlistedKeys } from '../../../../src/policy/detectors/shapes/unlisted-key.ts';
import { found } from '../found.ts';
import { drawKey } from '../labelled-set/draw-key.ts';
import { createRandom } from '../labelled-set/random.ts';

const possible = atLeast(secrets, 'possible');
const draw = (format: string, seed = 31) => drawKey(createRandom(seed), format);

/** No service of the table has them. */
const formats = {
  likely: `
    acme_live_<alnum:32> acme-pat-<lower:40> acmekey_<hex:40> acme_<alnum:40> ac2_<key:64> acme_sk_<alnum:12>_<alnum:32>
    ACME_SECRET-<upper:32> acme.v1.<key:43>.<key:43> acmetoken_<base64:44>
  `,
  possible: `
    sk_test_<alnum:24> pk_live_<alnum:24> acme_<hex:32> acme-<uuid> acme_api_<lower:20> acme.<hex:48> acmx<hex:40>
    <alnum:24>.<key:40> <alnum:8>.<alnum:32> <digits:2>|<alnum:48> <uuid>:<hex:32> <hex:24>:<hex:64> acme:<lower:30>
    ACMEC<hex:64> <uuid>-<uuid> <digits:4>~<alnum:64> 3/<hex:40> ac-<hex:16> agent:acme:<hex:32>
    agent:acme-eu:west|<alnum:40>
  `,
};

describe('a key of a service that the table does not know', () => {
  test.each(
    Object.entries(formats).flatMap(([confidence, table]) =>
      table
        .trim()
        .split(/\s+/)
        .map((format) => [confidence, format] as const),
    ),
  )('is %s as %s', (confidence, format) => {
    const key = draw(format);
    const [finding, ...others] = possible.find(`use "${key}", please`);

    expect(others).toEqual([]);
    expect(finding).toEqual({
      start: 5,
      end: 5 + key.length,
      confidence,
      why: 'unlisted service, shape',
    });
    expect(found(secrets, `use "${key}"`)).toEqual(confidence === 'likely' ? [key] : []);
  });

  test('is found in most formats of the table, were they not in it', () => {
    const keys = services
      .flatMap(({ formats }) => formats.flatMap(expandFormat))
      // A word of letters and a sign: what AKIA and such begin, only their rows know.
      .filter((format) => /^[A-Za-z][A-Za-z0-9]*[_.-]/.test(format.replace(/<[^>]*>/g, '')))
      .map((format, index) => drawKey(createRandom(500 + index), format));
    const known = keys.filter((key) =>
      findUnlistedKeys(`"${key}"`).some(({ start, end }) => start <= 1 && end > key.length),
    );

    expect(keys.length).toBeGreaterThan(350);
    expect(known.length / keys.length).toBeGreaterThan(0.9);
  });
});

test.each(['<alnum:32>', '<alnum:60>', '<upper:80>', '<lower:44>', '<alnum:27>_<alnum:21>'])(
  'a random run that stands alone, %s, is possible',
  (format) => {
    const keys = Array.from({ length: 20 }, (_, seed) => draw(format, seed));
    const missed = keys.filter((key) => !found(possible, `use "${key}", please`).includes(key));

    expect(missed.length).toBeLessThan(3); // a few have no digit for too long, or letters like those of words
    expect(keys.flatMap((key) => found(secrets, `use "${key}"`))).toEqual([]);
  },
);

describe('what is written like a key', () => {
  test.each([
    ['a number in hex', '0x<hex:64> 0x<hex:40>'],
    ['a hash behind words for it', 'cache:sha256:<hex:64> repo:digest:<hex:40>'],
    ['a member of an object', 'util.bytesFromIPv4 forge.toPkcs12Asn1 generated.isEnumBody'],
    ['an identifier of a dialect', 'toolu_<alnum:24> resp_<hex:48> chatcmpl-<alnum:29> msg_01<alnum:22>'],
    ['an item that Codex makes', 'at_<hex:8>-<hex:4>-7<hex:3>-<hex:4>-<hex:12> ctc_<hex:48>'],
    ['an identifier ordered by time', 'order_01<upper:24> user_01<alnum:22>'],
    ['a hash in a lock file', 'sha512-<base64:86>== sha256-<hex:64>'],
    ['a part of a bundle', 'main.<hex:20>.js chunk-<hex:40> styles-<hex:32>.min.css'],
    ['a trace', '00-<hex:32>-<hex:16>-01 trace-<hex:32>'],
    ['a branch and a tag', 'release-<hex:40> git-<hex:40> diff-<hex:64>R13'],
    [
      'names',
      'exports.base64urlToUint8Array getCipherForPKCS12PBE2.algorithmIdentifier some_long_name_2_of_it',
    ],
    ['an address', 'https://openjs-foundation.example/archives-of-2024/part-2-key-concepts-27a8a9533d0c'],
    ['an internationalized domain', 'xn--egbpdaj6bu4bxfgehfvwxn eurovisionxn--i1b6b1a6a2exn--xkc2dl3a5ee0h'],
    ['a drawing', 'M240-160h480v-400H240v400Zm296.5-143.5Q560-327 560-360t-23.5-56.5'],
    ['a checksum of a module', 'golang.org/x/text v0.14.0 h1:<base64:43>='],
    ['an entity tag', 'If-None-Match: W/"<hex:8>-<alnum:27>"'],
    ['a published key', 'public_key = "ed25519:<base64:43>=" age1<lower:58>'],
    ['a fingerprint', 'gpg --recv-keys 656AF68E5DAAA5A72AC122160B6A6C2FD9AB45CC'],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nMIIB<base64:60>\n<base64:64>\n'],
    ['an example', 'acme_live_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx acme_sk_0123456789abcdef0123456789abcdef'],
    ['a key of this gateway with a wrong checksum', 'gw_<alnum:38>'],
  ])('%s is none', (_name, template) => {
    const texts = Array.from({ length: 20 }, (_, seed) => draw(template, seed));

    expect(texts.flatMap((text) => found(possible, text))).toEqual([]);
  });
});

test.each([
  'https://chat.acme.example/hooks/<lower:24>',
  'https://acme.example/api/webhooks/<digits:18>/<key:60>',
  'https://acme.example/webhookb2/<uuid>/IncomingWebhook',
])('the address of a webhook, %s, is possible', (format) => {
  const address = draw(format);

  expect(possible.find(`POST ${address}\n`)).toMatchObject([
    { start: 5, end: 5 + address.length, confidence: 'possible' },
  ]);
  expect(secrets.find(address)).toEqual([]);
});

test.each([
  'https://acme.example/docs/webhooks/overview-of-2024',
  'https://git.example/acme/app/blob/<hex:40>/src/hooks/use-state.ts',
])('%s is no address of a webhook', (format) => {
  expect(found(possible, draw(format))).toEqual([]);
});
