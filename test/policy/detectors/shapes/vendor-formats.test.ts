import { expect, test } from 'vitest';
import { atLeast } from '../../../../src/policy/detectors/detector.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';
import { drawKey } from '../labelled-set/draw-key.ts';
import { createRandom } from '../labelled-set/random.ts';

/**
 * Formats as sources of the vendors show them, written down while the table of shapes was frozen. Where a source shows
 * the prefix only, the length is the one that is generally known.
 */
const formats = `
  Amazon           AKIA<base32:16> ASIA<base32:16>
  Anyscale         esecret_<lower:26>
  Appwrite         standard_<hex:256> organization_<hex:256> account_<hex:256>
  Axiom            xaat-<uuid> xapt-<uuid>
  Bitwarden        0.<uuid>.<alnum:30>:<base64:22>==
  Braintree        client_secret$sandbox$<lower:16>$<hex:32>
  Cal.com          cal_<hex:32>
  Central Dogma    appToken-<uuid>
  ClickUp          pk_<digits:8>_<upper:32>
  CodeSandbox      csb_v1_<key:43>
  Duffel           duffel_test_<key:43>
  Dynatrace        dt0s01.<upper:24>.<upper:64> dt0c01.<upper:24>.<upper:64>
  Easyship         prod_<hex:49> sand_<hex:49>
  Firecrawl        fc-<hex:32>
  Flutterwave      FLWPUBK_TEST-<hex:32>-X
  Infisical        st.<uuid>.<hex:32>
  Inngest          signkey-prod-<hex:64> signkey-dev-<hex:64>
  LaunchDarkly     sdk-<uuid> mob-<uuid>
  Midtrans         VT-server-<key:24>
  Mollie           live_<alnum:30> live_<word:40>
  Moyasar          sk_live_<alnum:40>
  Paddle           pdl_live_apikey_<lower:26>_<alnum:22>_<alnum:3> pdl_sdbx_apikey_<lower:26>_<alnum:22>_<alnum:3>
  Polar            polar_oat_<alnum:43>
  Replicate        r8_<alnum:37>
  Scaleway         SCW<upper:17>
  Shippo           shippo_live_<hex:40> shippo_test_<hex:40>
  Sourcegraph      sgp_<hex:16>_<hex:40> sgp_local_<hex:40>
  Tavily           tvly-<alnum:32>
  WakaTime         waka_<uuid>
  WooCommerce      ck_<hex:40> cs_<hex:40>
`;

const examples = formats
  .trim()
  .split('\n')
  .flatMap((line) =>
    line
      .trim()
      .split(/ +(?=\S*<)/)
      .slice(1),
  )
  .flatMap((format, index) =>
    [0, 1].map((each) => [format, drawKey(createRandom(9_100 + 2 * index + each), format)] as const),
  );

test.each(examples)('finds a key that a vendor describes as %s', (_format, key) => {
  expect(found(secrets, `use "${key}",`)).toContain(key);
});

/** Drawn like the values that vendors' pages show in requests and answers of theirs. */
test.each([
  ['<access_token>{}</access_token>', '<hex:32>'],
  ['{"access_token": "{}", "expires_in": 3600}', '<hex:32>'],
  ['{\n  "refresh_token": "{}",\n  "token_type": "Bearer"\n}', '<alnum:8>.<alnum:4>.<hex:30>'],
  ['{\n  "access_token": "{}",\n  "expires_in": 14124\n}', '<lower:28>'],
  ["'client_secret' => '{}',", '<alnum:128>'],
  ['Authorization: Basic {}\nContent-Type: text/plain', '<base64:28>'],
  ['curl --header "Authorization: Bearer {}" https://api.example.com/', '<key:72>'],
])('finds what %s gives to a name', (template, format) => {
  const value = drawKey(createRandom(9_300), format);

  expect(found(atLeast(secrets, 'possible'), template.replace('{}', value))).toEqual([value]);
});
