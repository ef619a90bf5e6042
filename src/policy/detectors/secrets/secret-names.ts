/**
 * What a name says about its value: a password may be short; a key is long and random; a value called just "key" must
 * look like one by itself.
 */
export type NameKind = 'password' | 'token' | 'key' | 'bare key';

/** Keywords in names of secrets, in lower case, and the kind of name that each makes; a line for some languages. */
const words: Readonly<Record<Exclude<NameKind, 'bare key'>, readonly string[]>> = {
  password: list(
    // English, and shortened in names
    'password, passwd, passphrase, passcode, pwd, pass, identified by, securestring, passwrd, pswd',
    // German, Dutch, Danish, Norwegian, Swedish, Finnish
    'passwort, kennwort, wachtwoord, adgangskode, passord, lösenord, losenord, salasana',
    // Spanish, French, Portuguese, Italian and Romanian
    'contraseña, contrasena, mot de passe, mot_de_passe, motdepasse, senha, parola',
    // Polish, Czech, Hungarian, Croatian, Turkish
    'hasło, heslo, jelszó, jelszo, lozinka, şifre, sifre',
    // Vietnamese, Indonesian
    'mật khẩu, kata sandi, kata_sandi',
    // Russian, Greek, Arabic, Hebrew, Hindi, Thai
    'пароль, κωδικός, كلمة المرور, סיסמה, पासवर्ड, รหัสผ่าน',
    // Chinese, Japanese, Korean
    '密码, 密碼, 口令, パスワード, パスコード, 비밀번호',
  ),
  token: list(
    // English, and shortened in names
    'secret, token, credential, authorization, bearer, _auth, apikey, api key, sessid, jsessionid, pepper',
    // German, Dutch, Polish
    'geheimnis, schlüssel, schluessel, sleutel, klucz',
    // Portuguese, Spanish, French, Italian
    'chave de api, clave de api, clé api, cle api, segredo, segreto, jeton, chave, chiave, clave',
    // Russian
    'ключ, токен, секрет',
    // Chinese, Japanese, Korean
    '密钥, 密鑰, 令牌, トークン, シークレット, 토큰',
  ),
  key: list('key, appid'),
};

function list(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(', '));
}

/** Keywords that are part of too many other words: they count only as the last word of a name, or before a sign. */
const shortWords = { password: ['pw', 'psk'], token: ['auth', '[_-]pat', 'creds'] } as const;

const allWords = Object.values(words).flat();

/** The same words, those of less than four characters by themselves, for a search for where they begin. */
export const secretWords = [
  [...allWords.filter(({ length }) => length > 3), 'auth', 'creds', '_pat', '-pat'],
  [...allWords.filter(({ length }) => length < 4), 'pw', 'psk'],
] as const;

/** Any of the words, at a place in a text of any case. */
export const secretWordHere = new RegExp(
  [
    ...allWords.toSorted((one, other) => other.length - one.length),
    ...Object.values(shortWords).map((all) => `(?:${all.join('|')})(?![a-z])`),
  ].join('|'),
  'iy',
);

/** Keywords of other scripts as in the folded view: lookalikes are Latin there, and marks are removed. */
const folded = [
  'mat khau',
  'κωδ[i1l][κk][o0]{2}',
  'كلمة [li1]لمرور',
  "[o0]'[o0]מה",
  'पसवरड',
  'รหสผาน',
  'ハスコート',
  'schlussel',
  'kл[li1]oч|кл[li1]oч',
  't[o0][kк]eh',
  'ceкpet|cekpet',
  '\u1110\u1169\u110f\u1173\u11ab',
  'haslo',
  'пapoль',
  'ハスワート',
  '\u1107\u1175\u1106\u1175\u11af\u1107\u1165\u11ab\u1112\u1169',
];

/** Prefilter: expressions for the folded view of a text that assigns a value to such a name. */
export const namePrefilters: readonly string[] = [
  // One expression for each kind of name, however its value may follow: in random letters names have no end, and each
  // expression would stay open from its first one on.
  ...(['password', 'token', 'key'] as const).map((kind) => {
    const spellings = kind === 'password' ? [...words[kind], ...folded] : words[kind];
    const given = [
      `(?:[:=>,(|?<]|: (?:basic|bearer|token) |-|%3d|is[ :]|ist |lautet|est |es |["' ]|[^ -~]{1,3})[^ ]{0,3} ?[!-~]{${kind === 'password' ? 6 : 10}}`,
      `[,:]? ?\\{? ?["'\\\\]{0,4}(?:value|default|plain|data)["'\\\\]{0,4} ?[:=]`,
      '</[a-z]{1,10}> ?<',
      `\\(\\)[^"']{0,48}["']`,
      `[:=] ?[a-z0-9_.:]+[(\\[]["' ]`,
      // With a type between: `password: &str = "…"`
      `:? ?(?:&?'static |&?mut )?[&*a-z][a-z0-9_.<>?[\\]]* ?:?= ?["'\`@]`,
    ].join('|');
    return `(?:${spellings.join('|')})[a-z0-9_.-]*[\\\\"'\`\\])*]{0,5} ?(?:<const> )?(?:${given})`;
  }),
  `(?:${Object.values(shortWords).flat().join('|')})(?:[_.-][a-z0-9_.-]*)?[\\\\"'\`\\])*]{0,5} ?[:=>,(|"' ][^ ]{0,3} ?[!-~]{6}`,
  // A variable's default is inside a block.
  '(?:key|token|secret|password)" \\{[^{}]*default ?= ?"',
  '(?:key|token|secret|password)"[^<>=]{0,40}>[!-~]{8}',
];

/**
 * Prefilter for what is likely: a setting with such a name and a value as long as random ones are, or one in quotation
 * marks with a space or an escape.
 */
const likelyName =
  '(?:key|token|secret|credential|passw(?:or)?d|passphrase|pwd|pass|auth|bearer)[a-z0-9_.-]{0,24}';
export const likelyNamePrefilters: readonly string[] = [
  `${likelyName}(?:[\\\\"'\`]{0,4} ?(?::?=|:|=>) ?[\\\\"'\`]{0,4}[!-~]{14}|="[^" ]*[ \\\\]|='[^' ]*[ \\\\])`,
  // `Authorization: Bearer …`, `--token …`, `login me password …`
  'auth(?:orization)?[\\\\"\']{0,4} ?[:=] ?(?:\\[ ?)?f?[\\\\"\']{0,4}[a-z]{3,12} [!-~]{14}',
  '-[a-z0-9-]*(?:key|token|secret|password|passwd|pass|auth)(?:-string)?["\']{0,2},? ["\']?[!-~]{14}',
  '(?:with password|identified by|-securestring) ["\']?[!-~]{14}',
  '(?:login|machine|user) [^ ]+ pass(?:word)? ["\']?[!-~]{14}',
  '(?:set(?:env|x)?|config(?:ure)?) (?:-{1,2}[a-z]{1,12} )?[^ ]*(?:key|token|secret|password|pass) ["\']?[!-~]{14}',
];

// A name may continue after its keyword: its last word says what the value is.
const otherEnding =
  /(?:[_.-](?:id|ids|url|uri|urls|path|paths|file|files|filename|dir|name|names|type|types|length|len|size|count|limit|max|min|index|regex|pattern|expiry|expires|expiration|expires_in|expires_at|ttl|timeout|at|age|date|version|field|label|hint|placeholder|title|text|message|error|errors|prompt|policy|format|provider|endpoint|scope|scopes|column|table|algorithm|alg|usage|status|state|style|class|attr|store|manager|service|arn|ref|prefix|suffix|hash|digest|salt|checksum|fingerprint|sha|sha1|sha256|md5|hint|strength|required|enabled|valid|list|map|set|count|info|kind|code_challenge)|(?:Id|ID|Ids|Url|URL|Uri|URI|Path|File|FileName|Dir|Name|Names|Type|Types|Length|Size|Count|Limit|Index|Regex|Pattern|Expiry|Expires|ExpiresIn|ExpiresAt|Ttl|TTL|Timeout|At|Age|Date|Version|Field|Label|Hint|Placeholder|Title|Text|Message|Error|Prompt|Policy|Format|Provider|Endpoint|Scope|Scopes|Column|Table|Algorithm|Usage|Status|State|Style|Class|Store|Manager|Service|Arn|Ref|Prefix|Suffix|Hash|Digest|Salt|Checksum|Fingerprint|Strength|Required|Enabled|Valid|List|Map|Set|Info|Kind|Reviver))$|hash|digest|integrity|checksum|fingerprint|public|PublicKey|authenticity|RequestVerification|csrf|xsrf|tokeniz|tokenType|tokenizer|secretary|passport|passive|passenger|bypass|compass|passing|passed$/;

/** Keys that protect nothing: of tables, caches, maps, keyboards. */
const otherKey =
  /(?:primary|foreign|dns|sort|partition|cache|object|group|index|map|hash|json|dict|lookup|query|row|unique|composite|candidate|i18n|translation|locale|hot|short|arrow|enter|escape|shift|ctrl|alt|meta|tab|press|event|react|list|item|data|field|config|settings|menu|route|store|state|prop|public|idempotency|s3|file|bucket|mon|turn|don|hoc|whis|jockey|registry|dedup|ordering|message|shard|site|sitekey|recaptcha|rsa|ssh|pub|node|dom|websocket|result|symbol|type|name|attribute|metadata|header|resource|parent|child|local_?storage|session_?storage)[_. -]?key$/i;

const endsInPass =
  /(?:^|[_.-])(?:pass|Pass|PASS|pw|PW|psk|PSK)$|[a-z](?:Pass|Pw|PW|Psk)$|^-{0,2}(?:store|key|ssh|db|smb|remote|imap|smtp|ftp|mail|admin|root)pass$|^(?:SSH|DB|SMB|IMAP|SMTP|FTP|MAIL|ADMIN|ROOT)PASS$/;
const endsInAuth = /(?:^|[_.-])(?:auth|Auth|AUTH|pat|PAT|creds?|Creds?|CREDS?)$|[a-z](?:Auth|Creds?)$/;

/** What distinguishes it from other names of its kind: a number, place or form. */
const qualifier =
  /(?:[_.-]?(?:\d{1,2}|[vV]\d)|[_.-](?:prod|production|live|staging|stage|dev|test|main|primary|secondary|backup|old|new|current|default|base64|b64|hex|str|string|plain|raw|value|val)|[_.-](?:PROD|PRODUCTION|LIVE|STAGING|STAGE|DEV|TEST|MAIN|PRIMARY|SECONDARY|BACKUP|OLD|NEW|CURRENT|BASE64|B64|HEX|VALUE)|(?:Prod|Production|Live|Staging|Dev|Test|Primary|Secondary|Base64|Hex|Value))$/;

/** Pagination and idempotency tokens. */
const otherToken =
  /(?:next|continuation|page|paging|pagination|client_?request|change|cursor|sync|resume|starting|idempotency)_?token$|^(?:client|marker)_?token$/i;

const credentialKey =
  /(?:api|access|auth|secret|private|signing|sign|signature|encryption|master|account|shared|app|application|service|license|licence|activation|subscription|deploy|client|customer|merchant|partner|developer|consumer|integration|security|storage|function|functions|routing|gateway|ingest|ingestion|instrumentation|project|team|org|workspace|webhook|admin|server|host|write|live|prod|hmac|aes|jwt|fernet|cookie|session|crypt|user|root|bot|secure|webservice|ws)[_. -]?key$/i;

const passwordWord = new RegExp(words.password.filter((word) => word !== 'pass').join('|'));
const tokenWord = new RegExp(words.token.join('|'));

/** The kind of secret that a name stands for; undefined if none. */
export function kindOfName(written: string): NameKind | undefined {
  if (/^(?:phpsessid|jsessionid)$/i.test(written)) return 'token';
  if (otherEnding.test(written)) return undefined;
  const name = written.replace(qualifier, '').replace(/(?<=[a-rt-z])s$|(?<=[A-RT-Z])S$/, '');
  const lower = written.toLowerCase();
  if (passwordWord.test(lower) || endsInPass.test(name)) return 'password';
  if (otherToken.test(name)) return undefined;
  if (tokenWord.test(lower) || endsInAuth.test(name)) return 'token';
  if (!/key$|^appid$/i.test(name) || otherKey.test(name)) return undefined;
  if (credentialKey.test(name)) return 'token';
  return name.length > 3 ? 'key' : 'bare key';
}
