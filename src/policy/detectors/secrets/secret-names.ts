/** What a name says of its value: a password may be short, a key is long and drawn by lot. */
export type NameKind = 'password' | 'token' | 'key';

/** Words that names of secrets hold, in small letters, and what each makes of the name. */
const words: Readonly<Record<NameKind, readonly string[]>> = {
  password: [
    'password',
    'passwd',
    'passphrase',
    'passcode',
    'passwort',
    'kennwort',
    'pwd',
    'pass',
    'contraseña',
    'contrasena',
    'mot de passe',
    'mot_de_passe',
    'motdepasse',
    'senha',
    'wachtwoord',
    'hasło',
    'parola',
    'пароль',
    '密码',
    '密碼',
    'パスワード',
    '비밀번호',
    'identified by',
    'securestring',
  ],
  token: ['secret', 'token', 'credential', 'authorization', 'bearer', '_auth', 'apikey', 'api key'],
  key: ['key', 'appid'],
};

/** Any of the words, in texts of any case. */
export const secretWord = new RegExp(
  Object.values(words)
    .flat()
    .toSorted((one, other) => other.length - one.length)
    .join('|'),
  'gi',
);

/** The words of other scripts as the folded view has them: look-alikes are Latin there, marks are gone. */
const folded = [
  'haslo',
  'пapoль',
  'ハスワート',
  '\u1107\u1175\u1106\u1175\u11af\u1107\u1165\u11ab\u1112\u1169',
];

/** Expressions for a text in which something is given to such a name; of the folded view. */
export const namePrefilters: readonly string[] = [
  ...(['password', 'token', 'key'] as const).flatMap((kind) => {
    const spellings = kind === 'password' ? [...words[kind], ...folded] : words[kind];
    const name = `(?:${spellings.join('|')})[a-z0-9_.-]*[\\\\"'\`\\])]{0,5} ?`;
    return [
      `${name}(?:[:=>,(]|: (?:basic|bearer|token) |-|%3d|is |ist |est |es |["' ])[^ ]{0,3} ?[!-~]{${kind === 'password' ? 8 : 12}}`,
      `${name},? ?["'\\\\]{0,4}value["'\\\\]{0,4} ?[:=]`,
      // With a type between: `password: &str = "…"`
      `${name}:? ?(?:&?'static |&?mut )?[&*a-z][a-z0-9_.<>?[\\]]{0,30} ?:?= ?["'\`@]`,
    ];
  }),
  // The default of a variable stands in a block.
  '(?:key|token|secret|password)" \\{ ?[a-z= ]{0,40}default ?= ?"',
  '(?:key|token|secret|password)"[^<>=]{0,40}>[!-~]{8}',
];

// A name may go on behind its word: what it ends with says what the value is.
const otherEnding =
  /(?:[_.-](?:id|ids|url|uri|urls|path|paths|file|files|filename|dir|name|names|type|types|length|len|size|count|limit|max|min|index|regex|pattern|expiry|expires|expiration|expires_in|expires_at|ttl|timeout|at|age|date|version|field|label|hint|placeholder|title|text|message|error|errors|prompt|policy|format|provider|endpoint|scope|scopes|column|table|algorithm|alg|usage|status|state|style|class|attr|store|manager|service|arn|ref|prefix|suffix|hash|digest|salt|checksum|fingerprint|sha|sha1|sha256|md5|hint|strength|required|enabled|valid|list|map|set|count|info|kind|code_challenge)|(?:Id|ID|Ids|Url|URL|Uri|URI|Path|File|FileName|Dir|Name|Names|Type|Types|Length|Size|Count|Limit|Index|Regex|Pattern|Expiry|Expires|ExpiresIn|ExpiresAt|Ttl|TTL|Timeout|At|Age|Date|Version|Field|Label|Hint|Placeholder|Title|Text|Message|Error|Prompt|Policy|Format|Provider|Endpoint|Scope|Scopes|Column|Table|Algorithm|Usage|Status|State|Style|Class|Store|Manager|Service|Arn|Ref|Prefix|Suffix|Hash|Digest|Salt|Checksum|Fingerprint|Strength|Required|Enabled|Valid|List|Map|Set|Info|Kind|Reviver))$|hash|digest|integrity|checksum|fingerprint|public|csrf|xsrf|tokeniz|tokens$|tokenType|tokenizer|secretary|passport|passive|passenger|bypass|compass|passing|passed$/;

/** Keys that open no door: of tables, caches, maps, the keyboard. */
const otherKey =
  /(?:primary|foreign|sort|partition|cache|object|group|index|map|hash|json|dict|lookup|query|row|unique|composite|candidate|i18n|translation|locale|hot|short|arrow|enter|escape|shift|ctrl|alt|meta|tab|press|event|react|list|item|data|field|config|settings|menu|route|store|state|prop|public|idempotency|s3|file|bucket|mon|turn|don|hoc|whis|jockey|registry|dedup|ordering|message|routing|shard|site|sitekey|recaptcha|rsa|ssh|pub|node|dom|websocket|result|symbol|type|name|attribute|metadata|header|resource|parent|child|local_?storage|session_?storage)[_. -]?key$/i;

const endsInPass = /(?:^|[_.-])(?:pass|Pass|PASS)$|[a-z]Pass$/;

/** Tokens that say where to go on, or that a request is the same. */
const otherToken =
  /(?:next|continuation|page|paging|pagination|client_?request|change|cursor|sync|resume|starting|idempotency)_?token$|^(?:client|marker)_?token$/i;

/** What a name speaks of; undefined if it speaks of no secret. */
export function kindOfName(name: string): NameKind | undefined {
  const lower = name.toLowerCase();
  if (otherEnding.test(name)) return undefined;
  if (words.password.some((word) => word !== 'pass' && lower.includes(word)) || endsInPass.test(name)) {
    return 'password';
  }
  if (otherToken.test(name)) return undefined;
  if (words.token.some((word) => lower.includes(word))) return 'token';
  if (!/key$|^appid$/.test(lower) || otherKey.test(name)) return undefined;
  const isCredential =
    /(?:api|access|auth|secret|private|signing|sign|encryption|master|account|shared|app|application|service|license|subscription|deploy|client|webhook|admin|server|write|live|prod|hmac|crypt|user)[_. -]?key$/i;
  if (isCredential.test(name)) return 'token';
  return lower.length > 3 ? 'key' : undefined;
}
