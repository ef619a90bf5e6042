// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what files of settings say
import { drawHarmless } from './harmless.ts';
import { base62, base64url, lower, type Random, upper } from './random.ts';
import { drawDistinct, type LabelledClass, plant, type Sample, templates } from './sample.ts';

/** Secrets without a shape, which only the name that they are given to makes secrets. */
export function labelNamedSecrets(): LabelledClass {
  return {
    positives: [
      ...plant(8101, 1100, tokens, tokenCarriers),
      ...plant(8103, 900, passwords, passwordCarriers),
      ...plant(
        8105,
        100,
        [(random) => basic(random)],
        ['Authorization: Basic {}', '"authorization": "Basic {}"'],
      ),
      ...spacedSettings,
    ],
    negatives: [
      ...drawHarmless(8107, 1400),
      ...drawDistinct(8109, 1600, [...nearMisses, ...spacedNearMisses]),
    ],
  };
}

const vendors =
  'acme adafruit algolia asana beamer bittrex codecov coinbase confluent datadog discord droneci dropbox etsy facebook fastly finicity finnhub flickr freshbooks gitter gocardless heroku hubspot intercom jfrog kraken kucoin launchdarkly linkedin lob looker mailchimp mapbox mattermost messagebird netlify nytimes okta plaid sendbird snyk squarespace sumologic travisci trello twitch twitter yandex zendesk'.split(
    ' ',
  );

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const tokens: readonly ((random: Random) => string)[] = [
  (random) => random.hex(32),
  (random) => random.hex(40),
  (random) => random.hex(64),
  (random) => random.text(20, base62),
  (random) => random.text(32, base62),
  (random) => random.text(64, base62),
  (random) => random.text(random.number(24, 48), lower + upper + base62),
  (random) => random.text(32, `${lower}0123456789`),
  (random) => random.text(43, base64url).replace(/^-|-$/g, 'x'),
  (random) => `${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-a${random.hex(3)}-${random.hex(12)}`,
  (random) => `T1${random.text(6, base62)}.${random.text(4, base62)}.${random.hex(30)}`,
  (random) => random.text(28, `${lower}0123456789`),
  (random) => random.text(128, base62),
];

const passwords: readonly ((random: Random) => string)[] = [
  (random) => random.text(24, base62),
  (random) => random.text(random.number(12, 20), base62),
  (random) => `${random.text(10, base62)}7q`,
  (random) => `${random.text(6, base62)}!${random.text(4, base62)}9#k`,
  (random) =>
    `${random.text(5, lower)}${random.pick(['!', '#', '-', '%', '+', '*'])}${random.text(5, upper)}${random.digits(2)}`,
  (random) =>
    `${random.pick(['Sommer', 'Winter', 'Dragon', 'Falcon'])}${random.digits(4)}${random.pick(['!', '#', '*'])}${random.text(3, base62)}`,
];

function basic(random: Random): string {
  return Buffer.from(`${random.text(6, lower)}:${random.text(14, base62)}`).toString('base64');
}

/** Each with a vendor in it where `@v` (small), `@V` (large) or `@C` (capitalized) stands. */
function withVendors(forms: readonly string[]): readonly string[] {
  return forms.flatMap((form, index) =>
    [0, 1, 2].map((turn) => {
      const vendor = vendors[(index * 7 + turn * 17) % vendors.length] ?? 'acme';
      return form
        .replaceAll('@v', vendor)
        .replaceAll('@V', vendor.toUpperCase())
        .replaceAll('@C', capital(vendor));
    }),
  );
}

/** Passwords with spaces, and values of several lines. */
export const spacedSettings: readonly Sample[] = plant(
  8111,
  120,
  [
    (random) => [4, 4, 6].map((length) => random.text(length, `${base62}!#%^*@`)).join(' '),
    (random) => [8, 10].map((length) => random.text(length, `${base62}!#%^*@`)).join(' '),
    (random) => `${random.text(3, lower)}@${random.text(2, lower)} ${random.text(8, base62)}!`,
    (random) => [24, 24].map((length) => random.text(length, base62)).join('\n'),
    (random) => `\n${Array.from({ length: 12 }, () => random.text(64, base64url)).join('\n')}\n`,
    (random) => [16, 16].map((length) => random.text(length, base62)).join('\\n'),
  ],
  [
    'DB_PASSWORD="{}"',
    "export PGPASSWORD='{}'",
    'HOST=db\nSMTP_PASS="{}" # see the wiki\nPORT=#d4\n',
    'HOST="db"\r\nADMIN_PASSWORD="{}"\r\nPORT="#d4"\r\n',
    "why is this wrong?\n```\nREDIS_PASSWORD='{}'\n```",
  ],
);

/** In quotation marks under such names: texts, placeholders, lists, commands and templates. */
export const spacedNearMisses = templates([
  'PASSWORD="please enter your password (#n)"',
  'PASSWORD_PROMPT="Password of 8-#d2 characters (1 upper-case, 1 digit): "',
  'DB_PASSWORD="change me in #n days!"',
  "export DB_PASSWORD='your password here' # #n",
  'DB_PASSWORD="<your p4ssw0rd #n goes h3re>"',
  'DB_PASSWORD="${DB_USER} p4s5w0rd #h8"',
  'DB_PASSWORD="$(vault read -field=pw kv/db#n)"',
  'APP_SECRET="generate #d2 bytes\nwith openssl, as base64"',
  'APP_SECRET="first line #n\nsecond line\nthird line"',
  'API_TOKEN="kubectl -n app get secret db-pass#n -o json"',
  'DEPLOY_TOKENS="web-#n db_main#n v2.4.#n-alpine3 team@acme.example"',
  'SECRET="not closed #n\nHOST="d8 x9q2K7mL4"\n',
]);

const tokenCarriers = withVendors([
  '@v_api_key = "{}"',
  '@V_API_KEY={}',
  'export @V_TOKEN={}',
  'export @V_SECRET="{}"\nexport PATH=$PATH:/usr/local/bin',
  '@v:\n  api_key: {}\n  timeout: #n\n',
  '@v:\n  access-token: "{}"\n',
  '{"@vToken": "{}", "retries": #n}',
  '{\n  "@v": {\n    "clientSecret": "{}"\n  }\n}',
  '"{\\"@v_secret_key\\":\\"{}\\"}"',
  '[@v]\nsecret = {}\nregion = eu\n',
  '[services.@v]\nauth_token = "{}"\n',
  '<add key="@CApiKey" value="{}" />',
  '<apiKey>{}</apiKey>',
  '<secret>{}</secret>',
  'const @vApiKey = "{}";',
  "let accessToken = '{}'",
  'var @CSecret string = "{}"',
  '@vKey := "{}"',
  'static final String @V_ACCESS_KEY = "{}";',
  'private const string ApiSecret = "{}";',
  'let @v_token: &str = "{}";',
  'val @vToken: String = "{}"',
  "$@vSecretKey = '{}';",
  "'@v_token' => '{}',",
  "define('@V_SECRET_KEY', '{}');",
  ':@v_token => "{}"',
  'config.@v_api_key = "{}"',
  'os.environ["@V_API_KEY"] = "{}"',
  'process.env.@V_TOKEN = "{}";',
  'client = @C(api_key="{}", timeout=#n)',
  'new @CClient({ apiKey: "{}", region: "eu" })',
  'client.setAuthToken("{}");',
  'api_key = "{}" # @v\n',
  'variable "@v_token" {\n  default = "x"\n}\n@v_token = "{}"',
  'curl -H "X-Api-Key: {}" https://api.@v.com/v1/items?limit=#n',
  'curl -H "Authorization: Bearer {}" https://api.@v.com/v2',
  'Authorization: Token {}',
  'https://api.@v.com/v1/forecast?api_key={}&units=metric',
  'GET /items?page=#n&access_token={} HTTP/1.1',
  '@v login --token {} --region eu',
  'docker run -e @V_API_KEY={} app:latest',
  '      - name: @V_TOKEN\n        value: {}\n',
  '{"name": "@V_SECRET", "value": "{}"}',
  "SET @v_secret = '{}';",
  'My @v api key is {}, please check it.',
  '<access_token>{}</access_token>',
  '{\n  "access_token": "{}",\n  "expires_in": #d4,\n  "token_type": "Bearer"\n}',
  '{"@v_refresh_token":"{}","scope":"read"}',
  "'client_secret' => '{}', \n'grant_type' => 'authorization_code',",
  'grant_type=client_credentials&client_id=#d10&client_secret={}',
  'curl --header "Authorization: Bearer {}" https://api.@v.com/contacts?count=#n',
  '[@v]\nsecret_key = {}\nregion = eu\n',
  '@v.auth.token={}\n@v.url=https://api.@v.com\n',
  'ENV @V_TOKEN={}\n',
  '- { name: @V_API_TOKEN, value: "{}" }',
  '$env:@V_API_KEY = "{}"',
  'set @V_API_KEY={}\r\n',
  "UPDATE settings SET @v_api_key = '{}' WHERE id = #n;",
  'Mein @C-Token: {}',
]);

const passwordCarriers = withVendors([
  'password = "{}"',
  'DB_PASSWORD={}',
  "export PGPASSWORD='{}'",
  'spring.datasource.password={}',
  'db:\n  user: app\n  password: {}\n',
  'mysql:\n  root_password: "{}"\n',
  '{"user": "app", "password": "{}"}',
  '{"user":"app","passwd":"{}","port":#d4}',
  '"{\\"username\\":\\"app\\",\\"password\\":\\"{}\\"}"',
  '<password>{}</password>',
  '<add name="Main" connectionString="Server=db;User Id=app;Password={};Encrypt=true" />',
  'Server=tcp:db.internal,1433;User ID=app;Password={};',
  "CREATE USER app IDENTIFIED BY '{}';",
  "ALTER USER app WITH PASSWORD '{}';",
  'machine git.internal login app password {}',
  'mysql -u root --password={} app',
  'curl -u admin:{} https://@v.internal/api',
  'const password = "{}";',
  "self.password = '{}'",
  'String dbPassword = "{}";',
  'password: str = "{}"',
  "$db_pass = '{}';",
  '@v_password: {}\n',
  'var Passwd = "{}"',
  'user.setPassword("{}");',
  'connect("app", password="{}")',
  'admin_pwd := "{}"',
  ':password "{}"',
  'Password: {}',
  'The password is {} for now.',
  'Das Passwort ist {}.',
  'Mot de passe : {}',
  'contraseña: {}',
  '密码：{}',
  'пароль: {}',
]);

/** Given to names of secrets, but none: places, examples, calls, words; and secrets' looks under other names. */
const nearMisses = templates([
  'password = os.environ["DB_PASSWORD"]',
  'const token = await getAccessToken(#n);',
  'apiKey: process.env.ACME_API_KEY, // #n',
  'password: ${DB_PASSWORD} # #n',
  'password: "{{ vault_password_#n }}"',
  'api_key = "your-api-key-here-#n"',
  'token: "access_token_#n"',
  "password: 'string', minLength: #n",
  '"passwordHash": "$2b$10$abcdefghijklmnopqrstuv#n"',
  '"integrity": "sha512-#h64#h64=="',
  'token_url = https://auth.example.com/oauth2/token?v=#n',
  'secretName: my-app-credentials-#n',
  'keyPath: /etc/ssl/private/server-#n.key',
  'primary_key = "customer_order_id_#n"',
  'cache_key = "user:profile:#d6:settings"',
  'key={item.id + #n}',
  'onKeyDown={handleKeyDown#n}',
  'if (token === TokenType.Identifier) return parse#n(token);',
  'tokens: #d4, max_tokens: #d5, total_tokens=#d6',
  'const secretManager = new SecretManagerServiceClient({ projectId: "p#n" });',
  'passwordInput.value = validatePasswordStrength(level#n)',
  'csrfToken: "#h32"',
  '"publicKey": "#h64"',
  '"commit": "#h40", "tree": "#h40"',
  'md5 #h32  file-#n.tar.gz',
  '"$id": "#h8-#h4-#h4-#h4-#h12"',
  'trace_id=#h32 span_id=#h16',
  'label: "Password must have at least #n characters"',
  'type: password\nname: user_password_#n\n',
  'export { password, token, secret } from "./fields-#n";',
  'describe("token refresh #n", () => {',
  'token.substring(0, #n)',
  'password != confirmPassword ? error#n : null',
  'AWS_SECRET_ACCESS_KEY=AKIAIOSFODNN7EXAMPLEKEY#n',
  'options to pass to `ensureIndexes()` before step #n',
  'a.numVerticesInTransparentPass=#n:this._stats.numVerticesInShadowPass=#n}get b',
]);
