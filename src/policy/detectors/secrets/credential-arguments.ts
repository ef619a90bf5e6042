import type { Finding } from '../detector.ts';
import { isRandomValue, isSecretValue } from './secret-value.ts';

interface Argument {
  readonly why: string;
  /** What a text must contain for the expression to be tried. */
  readonly mark: RegExp;
  /** Its group is the password; every repetition is bounded. */
  readonly expression: RegExp;
  /** Set if a random value there is likely a secret: nothing else is written so. */
  readonly isTelling?: true;
}

const credentialArguments: readonly Argument[] = [
  {
    why: 'option of curl',
    mark: /curl/,
    expression: /(?:-u|--user)[ =]["']?([^\s"':@/$]{20,128}):["']?(?=\s|$)/g,
    isTelling: true,
  },
  {
    why: 'input of a command',
    mark: /-stdin|sudo -|with-token|<<</,
    expression:
      /(?:(?:echo|printf) (?:-n )?["']?(?=[^\n|]{8,130}\|[^\n]{0,60}(?:-stdin|sudo -\w{0,4}S|with-token))|(?:secret|env|login|token|password)[^\n|;]{0,60}<<< ?["']?)([^\s"'|$]{8,256})/g,
  },
  {
    why: 'secret of a network device',
    mark: /community|(?:secret|password|key|md5) \d |net use/,
    expression:
      /(?:community (?=\S{6,64} R[OW])|(?:secret|password|key|md5) \d (?!\d{1,5}\b)|net use \S{1,8} \S{3,64} )["']?([^\s"']{8,128})/g,
  },
  {
    why: 'password file of PostgreSQL',
    mark: /:(?:\d{4,5}|\*):/,
    expression:
      /(?<![^\s"'])[\w.*-]{1,64}:(?:\d{4,5}|\*):[\w*-]{1,48}:[\w*-]{1,48}:([^\s:"']{8,128})(?![^\s"'])/g,
    isTelling: true,
  },
  {
    why: 'user of an address',
    mark: /:\/\/[\w-]{24,128}@/,
    expression: /:\/\/([\w-]{24,128})@(?!o?\d{0,12}\.?(?:ingest|sentry))/g,
  },
  {
    why: 'option of curl',
    mark: /curl|wget/,
    expression: /(?:-u|--user)[ =]["']?[^\s"':]{1,64}:([^\s"']{4,128})/g,
    isTelling: true,
  },
  {
    why: 'option of a command',
    mark: /sshpass|redis-cli|mysql|mongosh?|ldap(?:search|modify|add)|htpasswd|(?:docker|podman|helm) /,
    expression:
      /(?:sshpass -p ?|redis-cli\b[^\n|;]{0,80}? -a |mysql(?:dump|admin)?\b[^\n|;]{0,80}? -p|mongo(?:sh)?\b[^\n|;]{0,80}? -p |(?:docker|podman|helm)\b[^\n|;]{0,40}? login [^\n|;]{0,80}?(?:-p|--password) ?|ldap\w{3,6}\b[^\n|;]{0,80}? -w |htpasswd -\w*b\w*[^\n|;]{0,80}? )["']?([^\s"']{8,128})/g,
    isTelling: true,
  },
  {
    why: 'secret of a command',
    mark: /secret/,
    expression:
      /secrets? (?:set|create|put|add) [^\n|;]{1,80}?(?:--body|--value|-b|-v|--data|--secret-string)[ =]["']?([^\s"']{8,256})/g,
  },
  {
    why: 'secret of a command',
    mark: /secret|vault/,
    expression:
      /(?:--from-literal[ =]|secrets? (?:set|put|add) (?:-[^\s]{1,20} ){0,2}|vault (?:kv put|write) [^\s]{1,80} )["']?[\w.-]{1,48}=["']?([^\s"']{8,256})/g,
  },
  {
    why: 'password of a command',
    mark: /sqlplus|sqlcmd|smbclient|lftp|chpasswd|cqlsh|mongo|psql|isql|rabbitmqctl|https?ie?|keytool|zip|7z/,
    expression:
      /(?:sqlplus (?:-\w{1,4} )?[\w.]{1,40}\/|(?:sqlcmd|isql|bcp)\b[^\n|;]{0,80}? -P ?|smbclient\b[^\n|;]{0,80}?-U [\w\\.]{1,40}%|lftp\b[^\n|;]{0,80}?-u [\w.@]{1,40},|(?:cqlsh|mongo\w{2,10})\b[^\n|;]{0,80}? -p |add_user [\w.-]{1,40} |https? (?:-\w{1,4} )?-a [\w.@-]{1,40}:|zip\b[^\n|;]{0,40}? -P ?|7z a? ?-p|echo ["']?[\w.-]{1,32}:(?=[^\n]{6,140}chpasswd))["']?([^\s"'@|]{8,128})/g,
  },
  {
    why: 'parameter of an address',
    mark: /[?&](?:(?:x-(?:amz|goog)-)?sig(?:nature)?|code|auth|sid|tk|pw|k|apikey)=/i,
    expression:
      /[?&](?:(?:x-(?:amz|goog)-)?sig(?:nature)?|code|auth|sid|tk|pw|k|apikey)=([A-Za-z0-9%_.~+/=-]{20,256})/gi,
  },
  {
    why: 'session of a cookie',
    mark: /cookie/i,
    expression:
      /cookie\\?["']?\s?[:,=]\s?\\?["']?[^\n"']{0,200}?(?:sess\w{0,12}|sid|auth\w{0,8}|(?<![cx]srf[_-]?)token)=([^;\s"'\\]{16,256})/gi,
    isTelling: true,
  },
  {
    why: 'value before its name',
    mark: /["']?value["']?\s{0,4}[:=]/i,
    expression:
      /value\\?["']?\s{0,4}[:=]\s{0,4}\\?["']([^\s"'\\]{10,256})\\?["'],?\s{0,24}\\?["']?(?:name|key|id)\\?["']?\s{0,4}[:=]\s{0,4}\\?["'][\w.-]{0,40}(?:password|secret|token|api_?key)\\?["']/gi,
  },
  {
    why: 'password of a call',
    mark: /(?:mysqli(?:_connect)?|getConnection|PDO|login|WiFi\.begin|basic_?auth|signIn\w{0,24}|authenticate|imap_open)\(/i,
    expression:
      /(?:mysqli(?:_connect)?|getConnection|PDO|\w{0,12}login|WiFi\.begin|\w{0,8}basic_?auth|signIn\w{0,24}|authenticate|imap_open)\((?:[^()\n]{0,160},\s{0,4})?["'][^"'\n]{1,64}["'],\s{0,4}["']([^"'\s]{8,128})["']/gi,
  },
  {
    why: 'secret of a signature',
    mark: /jwt/i,
    expression: /jwt\.(?:sign|verify|encode|decode)\([^,()\n]{1,80},\s{0,4}["']([^"'\s]{16,256})["']/gi,
  },
  {
    why: 'value of a named header',
    mark: /for(?:HTTPHeaderField|Key)?:/,
    expression:
      /["']([^"'\s]{16,256})["'],\s{0,4}for(?:HTTPHeaderField|Key)?:\s{0,4}["'][\w-]{0,40}(?:key|token|secret|password|authorization)["']/gi,
  },
  {
    why: 'password of a pair',
    mark: /auth|credential/i,
    expression:
      /(?:auth|credentials?)\w{0,12}[ =:]{0,3}[([{]\s{0,4}["'][^"'\n]{1,64}["'],\s{0,4}["']([^"'\s]{8,128})["']/gi,
  },
];

/** Prefilter: expressions for the folded view of such a text. */
export const argumentPrefilters: readonly string[] = [
  '(?:-u|--user)[ =][^ :]{1,64}:[^ ]{4}',
  '(?:sshpass|redis-cli|mysql|mongo|ldap|htpasswd|docker|podman|helm)[a-z]{0,8} [^ ]',
  'secrets? (?:set|create|put|add) ',
  'chpasswd|-stdin|sudo -[a-z]{0,4}s|with-token|<<<',
  'community [^ ]|(?:secret|password|key|md5) [0-9] |net use ',
  ':(?:[0-9]{4,5}|\\*):[a-z0-9_*-]+:[a-z0-9_*-]+:',
  '://[a-z0-9_-]{24}',
  '--from-literal[ =]|vault (?:kv put|write) ',
  '(?:sqlplus|sqlcmd|isql|bcp|smbclient|lftp|cqlsh|add_user|https?|zip|7z)[a-z]{0,8} [^ ]',
  '[?&](?:(?:x-(?:amz|goog)-)?sig(?:nature)?|code|auth|sid|tk|pw|k|apikey)=[a-z0-9%_.~+/=-]{20}',
  'cookie[^ ]{0,4} ?[^ ]',
  'value[\\\\"\']{0,2} ?[:=] ?[\\\\"\']{1,2}[!-~]{10}',
  '(?:mysqli(?:_connect)?|getconnection|pdo|login|wifi\\.begin|basic_?auth|signin[a-z]{0,24}|authenticate|imap_open)\\(',
  'jwt\\.(?:sign|verify|encode|decode)\\(',
  '["\'], ?for(?:httpheaderfield|key)?:',
  '(?:auth|credential)[a-z_]{0,12}[ =:]{0,3}[(\\[{] ?["\']',
  'insert (?:ignore )?into ',
];

/** The same for what is likely. */
export const tellingPrefilters: readonly string[] = [
  '(?:-u|--user)[ =][^ :]{1,64}:[^ ]{14}',
  '(?:-u|--user)[ =]["\']?[^ :]{20}',
  '-{1,2}(?:p|a|w|password)[ =]?["\']?[!-~]{14}',
  'htpasswd -[a-z]',
  ':(?:[0-9]{4,5}|\\*):[a-z0-9_*-]+:[a-z0-9_*-]+:',
  '(?:sess[a-z0-9_]{0,12}|sid|auth[a-z0-9_]{0,8}|token)=[!-~]{16}',
];

/** Characters that every expression has at least one of. */
const punctuation = /[ =:("'<]/;
/** Most texts have no mark, and one expression is faster than one for each place. */
const anyMark = new RegExp(credentialArguments.map(({ mark }) => mark.source).join('|'), 'i');

/** `curl -u name:password`, `sshpass -p password`, `auth=("name", "password")` */
export function findCredentialArguments(text: string): readonly Finding[] {
  if (!punctuation.test(text) || !anyMark.test(text)) return [];
  return credentialArguments.flatMap(({ why, mark, expression, isTelling = false }) => {
    if (!mark.test(text)) return [];
    return [...text.matchAll(expression)].flatMap(({ index, 0: whole, 1: password = '' }): Finding[] => {
      if (!isSecretValue(password, 'password', false)) return [];
      const start = index + whole.lastIndexOf(password);
      const end = start + password.length;
      return isTelling && isRandomValue(password, 'password')
        ? [{ start, end, confidence: 'likely', why: `${why}, random` }]
        : [{ start, end, confidence: 'possible', why }];
    });
  });
}

/** Every repetition is bounded. */
const statement =
  /insert (?:ignore )?into [\w."`[\]]{1,64}\s?\(([^()]{1,400})\)\s{0,8}values\s{0,8}\(([^\n]{1,800})/gi;
const passwordColumn = /pass(?:word|wd|phrase)?$|secret$|token$|api_?key$/i;
const value =
  /\s{0,8}(?:N?'((?:[^'\\]|''|\\.){0,256})'|[^,'()]{1,64}(?:\([^()]{0,64}\))?)\s{0,8}(?:,|(\)))/gy;

/** The values of an SQL statement in the position of a password column. */
export function findPositionalPasswords(text: string): readonly Finding[] {
  if (!/insert /i.test(text)) return [];
  return [...text.matchAll(statement)].flatMap(({ index, 0: whole, 1: columns = '', 2: rest = '' }) => {
    const names = columns.split(',').map((name) => name.trim().replace(/^["'`[]|["'`\]]$/g, ''));
    const from = index + whole.length - rest.length;
    return readRow(rest).flatMap(({ at, text: given }, place) =>
      passwordColumn.test(names[place] ?? '') && isSecretValue(given, 'password', true)
        ? [
            {
              start: from + at,
              end: from + at + given.length,
              confidence: 'possible',
              why: 'value of a named column',
            } as const,
          ]
        : [],
    );
  });
}

function readRow(rest: string): { readonly at: number; readonly text: string }[] {
  const row: { at: number; text: string }[] = [];
  for (const match of rest.matchAll(value)) {
    const given = match[1] ?? '';
    row.push({ at: match.index + match[0].indexOf(given), text: given });
    if (match[2] !== undefined) break;
  }
  return row;
}
