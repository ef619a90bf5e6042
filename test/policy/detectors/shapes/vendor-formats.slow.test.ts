import { expect, test } from 'vitest';
import { atLeast } from '../../../../src/policy/detectors/detector.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';
import { drawKey, formatsOf } from '../labelled-set/draw-key.ts';
import { createRandom } from '../labelled-set/random.ts';
import { formats as fifthRound, templates } from './fifth-round.ts';

const possible = atLeast(secrets, 'possible');

/**
 * Formats as sources of the vendors show them, written down while the table of shapes was frozen. Where a source shows
 * the prefix only, the length is the one that is generally known.
 */
const formats = `
  Amazon AKIA<base32:16> ASIA<base32:16>, Anyscale esecret_<lower:26>,
  Appwrite standard_<hex:256> organization_<hex:256> account_<hex:256>, Axiom xaat-<uuid> xapt-<uuid>,
  Bitwarden 0.<uuid>.<alnum:30>:<base64:22>==, Braintree client_secret$sandbox$<lower:16>$<hex:32>,
  Cal.com cal_<hex:32>, Central-Dogma appToken-<uuid>, ClickUp pk_<digits:8>_<upper:32>,
  CodeSandbox csb_v1_<key:43>, Duffel duffel_test_<key:43>,
  Dynatrace dt0s01.<upper:24>.<upper:64> dt0c01.<upper:24>.<upper:64>, Easyship prod_<hex:49> sand_<hex:49>,
  Firecrawl fc-<hex:32>, Flutterwave FLWPUBK_TEST-<hex:32>-X, Infisical st.<uuid>.<hex:32>,
  Inngest signkey-prod-<hex:64> signkey-dev-<hex:64>, LaunchDarkly sdk-<uuid> mob-<uuid>,
  Midtrans VT-server-<key:24>, Mollie live_<alnum:30> live_<word:40>, Moyasar sk_live_<alnum:40>,
  Paddle pdl_live_apikey_<lower:26>_<alnum:22>_<alnum:3> pdl_sdbx_apikey_<lower:26>_<alnum:22>_<alnum:3>,
  Polar polar_oat_<alnum:43>, Replicate r8_<alnum:37>, Scaleway SCW<upper:17>,
  Shippo shippo_live_<hex:40> shippo_test_<hex:40>, Sourcegraph sgp_<hex:16>_<hex:40> sgp_local_<hex:40>,
  Tavily tvly-<alnum:32>, WakaTime waka_<uuid>, WooCommerce ck_<hex:40> cs_<hex:40>
`;

/** Two of each format. */
function examplesOf(table: string, seed: number): readonly (readonly [string, string])[] {
  return formatsOf(table).flatMap((format, index) =>
    [0, 1].map((each) => [format, drawKey(createRandom(seed + 2 * index + each), format)] as const),
  );
}

test.each(examplesOf(formats, 9_100))('finds a key that a vendor describes as %s', (_format, key) => {
  expect(found(secrets, `use "${key}",`)).toContain(key);
});

/** Formats of services that the table did not know, as their sources show them. */
const unlisted = `
  GoDaddy gd_pat_<alnum:40>_<hex:8>, Seam seam_<alnum:8>_<alnum:24>,
  Chargily test_sk_<alnum:40> live_sk_<alnum:40>, Zudu sk_<key:32> s3cr3t_<key:40>, DevKit4AI ak_<key:32>,
  Folkyn fk_live_<alnum:32>, InferBridge ib_<alnum:32> agni_<alnum:32>, Pinstripes sk-ps-<key:22>,
  Payload secret_key_<alnum:21> test_secret_key_<alnum:16>, Hex hex_<hex:40>, ConnectOnion oo_live_<alnum:32>,
  PriceStalker ps_<hex:64>, Open-VSX ovsxat_<uuid>, mem9 mem9_<alnum:32>, GC-Notify gcntfy-<lower:8>-<uuid>-<uuid>,
  HedgeDoc hd2.<key:11>.<key:86>, Pear mk_live_<lower:32>, DocIntell dk_test_<alnum:32>, Sendy sk_<alnum:65>,
  FortifyRoot fr_sk_<alnum:32>, Basilic bask_<key:8>_<key:43>, Thoughtbox tbx_<hex:8>_<key:43>,
  MCPMeter mcpm_live_<hex:32>, PanchangAPI pk_<uuid>, Pulse-Metrics api_<hex:64>, Dattus dattus-prod-<lower:24>,
  Oka oka_live_<alnum:43>, CG cg_live_<key:48>, AOL-notes aol_<hex:64>, JM jm_<hex:64>,
  Sanctum <digits:2>|<alnum:40><hex:8>, Omise skey_test_<lower:19>, Iyzico sandbox-<alnum:32>,
  Playcut pk_live_<hex:40>, keyshield ak_v1-<hex:16>-<alnum:64>, Odit vk_live_<hex:32>, Recnote rec_sk_<alnum:32>,
  Rexa vx_live_<alnum:32>, Archestra arch_<hex:32> archestra_<hex:32>, Logfire pylf_v1_us_<alnum:43>,
  Feed feed_<alnum:32>, App app_<alnum:32>, django-saas-auth tok_<key:43>, Label-Printer-Hub lh_pat_<key:43>,
  Marmot mrmt_u_<key:43>, prefix.secret <key:12>.<key:43>, Triage-Engine sk_live_<key:43>, fal <uuid>:<hex:32>
`;

test.each(examplesOf(unlisted, 9_500))(
  'finds, where a rule asks for what is possible, %s',
  (_format, key) => {
    expect(found(possible, `use "${key}",`)).toContain(key);
  },
);

/** Drawn like the values that vendors' pages show in requests and answers of theirs. */
test.each([
  ['{\n  "refresh_token": "{}",\n  "token_type": "Bearer"\n}', '<alnum:8>.<alnum:4>.<hex:30>'],
  ['<string name="pipedrive_api_token">{}</string>', '<hex:40>'],
  ["sshpass -p '{}' ssh root@10.0.0.4", '<alnum:20>'],
  ['redis-cli -h cache -a {} ping', '<alnum:24>'],
  ['variable "datadog_app_key" {\n  type = string\n  default = "{}"\n}', '<hex:32>'],
  ['https://api.example.org/data/2.5/weather?q=Bern&appid={}', '<hex:32>'],
  ['requests.get(url, auth=("admin", "{}"))', '<alnum:20>'],
  ['buildConfigField("String", "MAPS_API_KEY", "\\"{}\\"")', '<alnum:32>'],
  ['set -x ALGOLIA_ADMIN_KEY {}', '<alnum:32>'],
  ['{"apiKey":{"value":"{}"}}', '<alnum:32>'],
  ['gh secret set DEPLOY_TOKEN --body "{}"', '<alnum:40>'],
  ['docker login -u ci -p {} registry.example.org', '<alnum:24>'],
  ['echo "machine api.example.org password {}" >> ~/.netrc', '<alnum:32>'],
  ['https://maps.example.org/geocode?address=Bern&key={}', '<hex:32>'],
  ["jwt.sign(payload, '{}')", '<hex:64>'],
  ['val authToken by lazy { "{}" }', '<alnum:32>'],
  ['request.setValue("{}", forHTTPHeaderField: "X-API-Key")', '<hex:32>'],
  ['$cred = ConvertTo-SecureString "{}" -AsPlainText -Force', '<alnum:24>'],
])('finds what %s gives to a name', (template, format) => {
  const value = drawKey(createRandom(9_300), format);

  expect(found(possible, template.replace('{}', value))).toEqual([value]);
});

function missed(examples: readonly (readonly [string, string])[], seed: number): readonly string[] {
  return examples
    .map(([template, format], index) => {
      const key = drawKey(createRandom(seed + index), format);
      return { key, text: template.replace('{}', key) };
    })
    .filter(({ key, text }) => !found(possible, text).some((each) => each.includes(key)))
    .map(({ text }) => text);
}

test('finds nine in ten keys of services that were in no round before', () => {
  const examples = formatsOf(fifthRound).map((format) => ['use "{}",', format] as const);

  expect(missed(examples, 77_000).length / examples.length).toBeLessThan(0.1);
});

test('finds 85 in a hundred values given to names in places that were in no round before', () => {
  expect(missed(templates, 78_000).length / templates.length).toBeLessThan(0.15);
});
