import { keyChecksum } from '../../../../src/policy/detectors/secrets/key-checksum.ts';
import { services } from '../../../../src/policy/detectors/shapes/shape.ts';
import { drawKey } from './draw-key.ts';
import { drawHarmless } from './harmless.ts';
import { spacedNearMisses, spacedSettings } from './named-secrets.ts';
import { base62, base64, base64url, lower, type Random, upper } from './random.ts';
import {
  carriers,
  drawDistinct,
  endOfPlanted,
  type LabelledClass,
  listed,
  plant,
  templates,
} from './sample.ts';

/** Keys as providers issue them; each drawn from the alphabet and length that its provider uses. */
export function labelSecrets(): LabelledClass {
  return {
    positives: [
      ...plant(8001, 900, makers, [...carriers, ...own]),
      ...plant(8011, 2 * shapeMakers.length, shapeMakers, [...carriers, ...own]),
      ...plant(8004, 60, [(random) => random.text(40, `${base62}/+`)], secretAccessKeys),
      ...spacedSettings,
    ],
    negatives: [
      ...drawHarmless(8002, 1400),
      ...drawDistinct(8003, 1100, [...nearMisses, ...spacedNearMisses]),
    ],
  };
}

/** One maker for each format of the table of shapes. */
const shapeMakers = services.flatMap(({ formats }) =>
  formats.map((format) => (random: Random) => drawKey(random, format)),
);

const base32 = `${upper}234567`;
const lowerDigits = `${lower}0123456789`;

const makers: readonly ((random: Random) => string)[] = [
  (random) => `sk-ant-api03-${random.text(93, base64url)}AA`,
  (random) => `sk-ant-${random.pick(['admin01', 'oat01', 'sid01'])}-${random.text(93, base64url)}AA`,
  (random) => `sk-proj-${random.text(74, base64url)}T3BlbkFJ${random.text(74, base64url)}`,
  (random) => `sk-svcacct-${random.text(58, base64url)}T3BlbkFJ${random.text(58, base64url)}`,
  (random) => `sk-${random.text(20, base62)}T3BlbkFJ${random.text(20, base62)}`,
  (random) => `sk-proj-${random.text(random.number(48, 140), base64url)}`,
  (random) => `sk-${random.hex(32)}`,
  (random) => `sk-or-v1-${random.hex(64)}`,
  (random) => `gsk_${random.text(52, base62)}`,
  (random) => `${random.pick(['ghp', 'gho', 'ghu', 'ghs', 'ghr'])}_${random.text(36, base62)}`,
  (random) => `github_pat_${random.text(22, base62)}_${random.text(59, base62)}`,
  (random) => `glpat-${random.text(20, base64url)}`,
  (random) => `${random.pick(['AKIA', 'ASIA'])}${random.text(16, base32)}`,
  (random) => `AIza${random.text(35, base64url)}`,
  (random) => `GOCSPX-${random.text(28, base64url)}`,
  (random) => `xoxb-${random.digits(12)}-${random.digits(13)}-${random.text(24, base62)}`,
  (random) => `xoxp-${random.digits(12)}-${random.digits(12)}-${random.digits(13)}-${random.hex(32)}`,
  (random) => `xapp-1-A0${random.text(9, upper)}-${random.digits(13)}-${random.hex(64)}`,
  (random) =>
    `https://hooks.slack.com/services/T${random.text(8, upper)}/B${random.text(10, upper)}/${random.text(24, base62)}`,
  (random) => `${random.pick(['sk', 'rk'])}_live_${random.text(random.pick([24, 99]), base62)}`,
  (random) => `npm_${random.text(36, base62)}`,
  (random) => `SG.${random.text(22, base64url)}.${random.text(43, base64url)}`,
  (random) => `hf_${random.text(34, base62)}`,
  (random) => `SK${random.hex(32)}`,
  (random) => `shpat_${random.hex(32)}`,
  (random) => `lin_api_${random.text(40, base62)}`,
  (random) => `dop_v1_${random.hex(64)}`,
  (random) => `pypi-AgEIcHlwaS5vcmc${random.text(150, base64url)}`,
  (random) => token(random),
  (random) =>
    `${random.pick(['postgres', 'postgresql', 'mysql', 'mongodb+srv', 'redis', 'amqps', 'https', 'postgresql+asyncpg', 'clickhouse'])}://${random.text(6, lower)}:${random.text(random.number(8, 20), base62)}${endOfPlanted}@${random.text(6, lower)}.${random.pick(['example.com', 'internal', 'rds.amazonaws.com'])}`,
  (random) => `redis://:${random.text(24, base62)}${endOfPlanted}@cache.internal`,
  (random) => `postgres://app:${random.text(6, lowerDigits)}!${random.text(4, base62)}%23${endOfPlanted}@db`,
  (random) => gatewayKey(random),
  serviceAccountToken,
];

/** 1Password: an object in base64, of any length. */
function serviceAccountToken(random: Random): string {
  const account = {
    email: `${random.hex(12)}@example.com`,
    secretKey: random.hex(random.number(20, 40)),
    srpX: random.hex(128),
  };
  return `ops_${Buffer.from(JSON.stringify(account)).toString('base64')}`;
}

/** A signed token; its three parts are made from what a server would put in. */
function token(random: Random): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = encode({ alg: random.pick(['HS256', 'RS256', 'ES256']), typ: 'JWT' });
  const payload = encode({
    sub: random.hex(12),
    iat: 1700000000 + random.number(0, 9999),
    scope: random.text(8, lower),
  });
  return `${header}.${payload}.${random.text(random.pick([43, 86, 342]), base64url)}`;
}

export function gatewayKey(random: Random): string {
  const body = random.text(32, base62);
  return `gw_${body}${keyChecksum(body)}`;
}

/** Forty characters that only their name gives away. */
const secretAccessKeys: readonly string[] = [
  'aws_secret_access_key = {}\nregion = eu-west-1',
  'AWS_SECRET_ACCESS_KEY={}',
  '"SecretAccessKey": "{}",',
  "secret_access_key: '{}'",
];

const own: readonly string[] = listed(`
  API_KEY={} | export TOKEN="{}" | Authorization: Bearer {} | x-api-key: {} | {"apiKey":"{}"}
  client = Client(api_key='{}') | curl -H "Authorization: Bearer {}" https://a.example | ENV SECRET={}
  //registry.npmjs.org/:_authToken={} | why does {} return 401? | \`{}\` | -  key: {}\n+  key: \${KEY}
  DATABASE_URL={} | error: invalid key {}, request 12 | mein Schlüssel ist {} | <token>{}</token>
`);

const nearMisses: readonly ((random: Random) => string)[] = [
  ...templates(
    listed(`
    sk-... | sk-ant-... | sk-ant-api03-your-key-here
    sk-proj-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | sk-1234567890abcdef1234567890abcdef
    ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | ghp_your_token_here | github_pat_...
    glpat-XXXXXXXXXXXXXXXXXXXX | AKIAIOSFODNN7EXAMPLE
    aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY | AKIAXXXXXXXXXXXXXXXX
    xoxb-your-token-here | xoxb-not-a-real-token | sk_test_#h24 | pk_live_#h24 | SG.utils.format
    SG.your.key | npm_config_registry_timeout_default_value | npm_lifecycle_event
    hf_hub_download(repo_id="a/b") | sk-container-id-#n | class="sk-estimator-doc-link fitted"
    AIzaExampleExampleExampleExampleExample | gw_test | gw_your_key_here | gsk_... | SKU#h32
    postgres://user:password@localhost:5432/app | postgres://postgres:postgres@db:5432/app
    postgresql://\${DB_USER}:\${DB_PASSWORD}@\${DB_HOST}/app | mysql://root:root@127.0.0.1/test
    mongodb://localhost:27017/app | redis://localhost:6379/0 | https://user:pass@example.com/
    amqp://guest:guest@rabbit:5672 | f"postgres://{user}:{password}@{host}/{name}"
    "postgres://" + user + ":" + password + "@" + host | https://example.com:8443/a@b
    postgres://app:***@db/app | postgres://<user>:<password>@<host>/db | http://host:8080/@scope/pkg
    https://a.example/x:y@z | mysql://%s:%s@%s/%s | postgres://app@db:5432/x | eyJhbGciOiJIUzI1NiJ9
    eyJhbGciOi... | data = "eyJ#h40" | const ghp_pattern = /ghp_[A-Za-z0-9]{36}/; | Bearer <token>
    Authorization: Bearer \${token} | password = "hunter2" | apiKey: process.env.KEY
    secret_access_key: !Ref Secret | AWS_SECRET_ACCESS_KEY=\${AWS_SECRET_ACCESS_KEY} | task-#h32 | disk-#h32
    risk-#h40 | flask-#h32 | desk_live_#h24 | tusk-#h36 | BREAKIA#h16 | etag: "SK-#h32" | md5 #h32
    sha1 #h40 | sha256 #h64 | ops_eyes | shpat_1 | lin_api_url | dapi_#h8 | xai-sdk-python | pplx-api
    whsec_... | asia-northeast1-docker.pkg.dev/a/b | AKIA is the prefix of access keys
    -----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG#h64\n-----END PUBLIC KEY-----
    https://hooks.slack.com/services/ | arn:aws:iam::#d12:role/app | AccountId: #d12
    projects/p/secrets/db-password/versions/#n | secretRef: { name: app-secrets, key: token }
    ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI#h40 me
  `),
  ),
  (random) => `sk-${random.text(12, base62)}`,
  (random) => `ghp_${random.text(20, base62)}`,
  (random) => `${random.text(30, base62)}_${random.text(20, base62)}`,
  (random) => `gw_${random.text(38, base62)}`,
  (random) => spoiled(random, gatewayKey(random)),
  (random) => `AKIA${random.text(12, base32)}`,
  (random) => random.text(64, base64),
  (random) => `glpat${random.text(20, base62)}`,
  (random) => `x${random.text(4, lower)}AKIA${random.text(16, base32)}${random.text(9, lower)}`,
  (random) => `hf_${random.text(12, lower)}_${random.text(9, lower)}`,
  (random) => `eyJ${random.text(30, base62)}.${random.text(20, base62)}`,
];

/** A gateway key with one character changed. */
export function spoiled(random: Random, key: string): string {
  const place = random.number(3, key.length - 1);
  const other = key.charAt(place) === 'Q' ? 'R' : 'Q';
  return key.slice(0, place) + other + key.slice(place + 1);
}
