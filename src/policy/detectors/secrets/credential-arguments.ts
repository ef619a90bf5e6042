import type { Finding } from '../detector.ts';
import { isRandomValue, isSecretValue } from './secret-value.ts';

interface Argument {
  readonly why: string;
  /** Words of which a text must contain one, in any case, for the expression to be tried; `#` is a digit. */
  readonly marks: readonly string[];
  /** Its group is the password; every repetition is bounded. */
  readonly expression: RegExp;
  /**
   * `likely`: a random value there is likely a secret, as nothing else is written so. `random`: so is it, and no other
   * value is found, as much else has that form.
   */
  readonly finds?: 'likely' | 'random';
}

const parameters = [
  ...['sig=', 'signature=', 'code=', 'auth=', 'sid=', 'tk=', 'pw=', 'k=', 'apikey='],
  ...['x-amz-sig', 'x-goog-sig'],
];

const credentialArguments: readonly Argument[] = [
  {
    why: 'option of curl',
    marks: ['curl'],
    expression: /(?:-u|--user)[ =]["']?([^\s"':@/$]{20,128}):["']?(?=\s|$)/g,
    finds: 'likely',
  },
  {
    why: 'user and password of an option',
    marks: [' -a ', ' -a=', ' -u ', ' -u=', '-auth', '-user', '--uri', 'creds'],
    expression:
      /(?<![\w-])(?:-[aAuU]|-auth|--(?:auth|user|proxy-user|uri|(?:\w{2,6}-)?creds))[ =]["']?(?:[\w-]{1,20}\\{1,2})?[\w.@+-]{1,64}[:%]([^\s"'@|;]{14,128})/g,
    finds: 'random',
  },
  {
    why: 'password beside a user',
    marks: [' -p', ' -w', ' -a', ' -x', ' /p'],
    expression:
      /(?<=\s)[-/]{1,2}(?:[uUlD]|[ax]u|user(?:name)?)[ =:]?["']?[^\s"'|;]{1,80}["']?\s(?:[^\n|;]{0,80}?\s)?[-/](?:[pPwAX]|pw|ap|xp)[ =:]?["']?([^\s"'|;]{14,128})/g,
    finds: 'random',
  },
  {
    why: 'password of a command',
    marks: [
      'login ',
      'publish ',
      'upload ',
      'db push',
      'keychain ',
      'security import',
      'generic-password',
      'veracrypt',
      'ssh-keygen',
      'conan user',
      'credhub',
      'doveadm',
      'ldap',
      'rar a ',
      'rar x ',
      'rar e ',
      '7z ',
    ],
    expression:
      /\b(?:(?:login|publish|upload|db push|unlock-keychain|security import|generic-password|veracrypt|ssh-keygen|conan user|credhub set|doveadm pw|ldap\w{3,6})\b[^\n|;]{0,80}?\s-[pPwaNs] ?|(?:(?:un)?rar|7z)\b[^\n|;]{0,40}?\s-h?p)["']?([^\s"'|;]{14,128})/g,
    finds: 'random',
  },
  {
    why: 'key of a command',
    marks: [
      'doctl',
      'fly ',
      'flyctl',
      'vercel',
      'codecov',
      'nuget',
      'rancher',
      'influx',
      'doppler',
      'glab',
      'gitlab-runner',
      'openai',
      'openssl',
      'snmp',
    ],
    expression:
      /\b(?:doctl|fly(?:ctl)?|vercel|codecov(?:\.io\/bash\))?|nuget|rancher|influx|doppler|glab|gitlab-runner|openai|openssl enc|snmp\w{3,8})\b[^\n|;]{0,80}?\s-[tkrvc] ["']?([^\s"'|;]{14,128})/g,
    finds: 'random',
  },
  {
    why: 'argument of a login',
    marks: [
      'login ',
      'auth ',
      'unlock ',
      'unseal ',
      'authtoken ',
      'obscure ',
      'encrypt_string ',
      'authorize',
    ],
    expression:
      /(?<![^\s\x60(&;|])[a-z][\w.-]{1,24} (?:[a-z]{1,16} )?(?:login|auth|unlock|unseal|authtoken|obscure|encrypt_string|authorize(?:-account)?) (?:[\w.+-]{1,48}@?[\w.-]{0,48} )?["']?([^\s"'|;@]{14,128})["']?(?=\s|$)/g,
    finds: 'random',
  },
  {
    why: 'password behind its user',
    marks: [
      'net user',
      'wpa_passphrase',
      'passwd -',
      'change_password',
      'alias set',
      'http-basic',
      '-oauth',
      'bundle config',
      'upwd',
      'user:password',
      'refresh-token',
      'auth ',
      'setapikey',
      'expdp',
      'impdp',
      'connect to ',
      '.login=',
    ],
    expression:
      /\b(?:net user \S{1,64} |wpa_passphrase \S{1,32} |\w{2,12}passwd -\w*b\w* \S{1,80} \S{1,64} |change_password \S{1,64} |alias set \S{1,32} \S{3,80} \S{3,64} |http-basic\.\S{1,80} \S{1,64} |\w{2,12}-oauth\.\S{3,80} |bundle config (?:set )?(?:-\S{1,12} )?\S{3,80} \S{1,48}:|(?:user:password|upwd) \S{1,64} |refresh-token \S{3,64} |AUTH (?:\w{1,32} )?|setapikey |(?:ex|im)pdp \w{1,32}\/|user \S{1,32} using |\.login=)["']?([^\s"'@|;]{14,128})/g,
    finds: 'random',
  },
  {
    why: 'input of a command',
    marks: ['echo ', 'printf '],
    expression:
      /(?:echo|printf) (?:-n )?["']?([^\s"'|$]{14,256})["']?(?:; ?echo [^|\n]{1,256}\))? ?\|[^\n|]{0,40}?(?:passw\w{0,8}[- ]{1,3}(?:on-)?stdin|stdin-password|\b(?:login|kinit|realm join|luks\w{4,10}|cryptsetup|vncpasswd|smbpasswd|keyring set|keystore add|secret-tool store|pass insert|secrets? (?:create|put|set|versions add))\b)/g,
    finds: 'random',
  },
  {
    why: 'input of a command',
    marks: ['-stdin', 'sudo -', 'with-token', '<<<'],
    expression:
      /(?:(?:echo|printf) (?:-n )?["']?(?=[^\n|]{8,130}\|(?! ?git )[^\n]{0,60}(?:-stdin|sudo -\w{0,4}S|with-token))|(?:secret|env|login|token|password)[^\n|;]{0,60}<<< ?["']?)([^\s"'|$]{8,256})/g,
    finds: 'likely',
  },
  {
    why: 'secret of a network device',
    marks: ['community', 'secret # ', 'password # ', 'key # ', 'md5 # ', 'net use'],
    expression:
      /(?:community (?=\S{6,64} R[OW])|(?:secret|password|key|md5) \d (?!\d{1,5}\b)|net use \S{1,8} \S{3,64} )["']?([^\s"']{8,128})/g,
    finds: 'likely',
  },
  {
    why: 'password file of PostgreSQL',
    marks: [':####:', ':#####:', ':*:'],
    expression:
      /(?<![^\s"'])[\w.*-]{1,64}:(?:\d{4,5}|\*):[\w*-]{1,48}:[\w*-]{1,48}:([^\s:"']{8,128})(?![^\s"'])/g,
    finds: 'likely',
  },
  {
    why: 'option of curl',
    marks: ['curl'],
    // Short options may stand together, and next to what they are given.
    expression: /\bcurl\b[^\n|;]{0,80}?\s-[A-Za-z]{0,8}u ?["']?[\w.@+-]{1,64}:([^\s"'@|;]{8,128})/g,
    finds: 'random',
  },
  {
    why: 'user of an address',
    marks: ['://'],
    expression: /:\/\/([\w-]{24,128})@(?!o?\d{0,12}\.?(?:ingest|sentry))/g,
  },
  {
    why: 'option of curl',
    marks: ['curl', 'wget'],
    expression: /(?:-u|--user)[ =]["']?[^\s"':]{1,64}:([^\s"']{4,128})/g,
    finds: 'likely',
  },
  {
    why: 'option of a command',
    marks: [
      'sshpass',
      'redis-cli',
      'mysql',
      'mariadb',
      'mongo',
      'ldap',
      'htpasswd',
      'docker ',
      'podman ',
      'helm ',
    ],
    expression:
      /(?:sshpass -p ?|redis-cli\b[^\n|;]{0,80}? -a |m(?:ysql|ariadb)(?:-?dump|admin)?\b[^\n|;]{0,80}? -p|mongo(?:sh)?\b[^\n|;]{0,80}? -p |(?:docker|podman|helm)\b[^\n|;]{0,40}? login [^\n|;]{0,80}?(?:-p|--password) ?|ldap\w{3,6}\b[^\n|;]{0,80}? -w ?|htpasswd -\w*b\w*[^\n|;]{0,80}? )["']?([^\s"']{8,128})/g,
    finds: 'likely',
  },
  {
    why: 'secret of a command',
    marks: ['secret', 'put-parameter', 'variable set'],
    expression:
      /(?:secrets? (?:set|create|put|add)|variable set|put-parameter) [^\n|;]{1,120}?(?:--body|--value|-b|-v|--data|--secret-string)[ =]["']?([^\s"']{8,256})/g,
    finds: 'likely',
  },
  {
    why: 'secret of a command',
    marks: ['secret', 'vault', '--from-literal'],
    expression:
      /(?:--from-literal[ =]|secrets? (?:set|put|add) (?:-[^\s]{1,20} ){0,2}|vault (?:kv put|write) \S{1,80} (?:\S{1,64} ){0,3}?)["']?[\w.-]{1,48}=["']?([^\s"']{8,256})/g,
    finds: 'likely',
  },
  {
    why: 'password of a command',
    marks: [
      'sqlplus',
      'sqlcmd',
      'bcp ',
      'smbclient',
      'lftp',
      'chpasswd',
      'cqlsh',
      'mongo',
      'isql',
      'add_user ',
      'http -',
      'https -',
      'zip ',
      '7z ',
    ],
    expression:
      /(?:sqlplus (?:-\w{1,4} )?[\w.]{1,40}\/|(?:sqlcmd|isql|bcp)\b[^\n|;]{0,80}? -P ?|smbclient\b[^\n|;]{0,80}?-U [\w\\.]{1,40}%|lftp\b[^\n|;]{0,80}?-u [\w.@]{1,40},|(?:cqlsh|mongo\w{2,10})\b[^\n|;]{0,80}? -p |add_user [\w.-]{1,40} |https? (?:-\w{1,4} )?-a [\w.@-]{1,40}:|zip\b[^\n|;]{0,40}? -P ?|7z a? ?-p|echo ["']?[\w.-]{1,32}:(?=[^\n]{6,140}chpasswd))["']?([^\s"'@|]{8,128})/g,
    finds: 'likely',
  },
  {
    why: 'parameter of an address',
    marks: parameters.flatMap((name) => [`?${name}`, `&${name}`]),
    expression:
      /[?&](?:(?:x-(?:amz|goog)-)?sig(?:nature)?|code|auth|sid|tk|pw|k|apikey)=([A-Za-z0-9%_.~+/=-]{20,256})/gi,
  },
  {
    why: 'session of a cookie',
    marks: ['cookie', 'curl'],
    expression:
      /(?:cookie\\?["']?\s?[:,=]\s?|--cookie\s|\s-[a-z]{0,8}b\s?)\\?["']?[^\n"']{0,200}?(?:sess\w{0,12}|sid|auth\w{0,8}|(?<![cx]srf[_-]?)token)=([^;\s"'\\]{16,256})/gi,
    finds: 'likely',
  },
  {
    why: 'value before its name',
    marks: ['value:', 'value=', 'value :', 'value =', 'value  ', 'value"', "value'", 'value\\'],
    expression:
      /value\\?["']?\s{0,4}[:=]\s{0,4}\\?["']([^\s"'\\]{10,256})\\?["'],?\s{0,24}\\?["']?(?:name|key|id)\\?["']?\s{0,4}[:=]\s{0,4}\\?["'][\w.-]{0,40}(?:password|secret|token|api_?key)\\?["']/gi,
  },
  {
    why: 'password of a call',
    marks: [
      'mysqli',
      'getConnection(',
      'pdo(',
      'login(',
      'wifi.begin(',
      'basic_auth(',
      'basicauth(',
      'signin',
      'authenticate(',
      'imap_open(',
    ],
    expression:
      /(?:mysqli(?:_connect)?|getConnection|PDO|\w{0,12}login|WiFi\.begin|\w{0,8}basic_?auth|signIn\w{0,24}|authenticate|imap_open)\((?:[^()\n]{0,160},\s{0,4})?["'][^"'\n]{1,64}["'],\s{0,4}["']([^"'\s]{8,128})["']/gi,
  },
  {
    why: 'secret of a signature',
    marks: ['jwt.'],
    expression: /jwt\.(?:sign|verify|encode|decode)\([^,()\n]{1,80},\s{0,4}["']([^"'\s]{16,256})["']/gi,
  },
  {
    why: 'value of a named header',
    marks: ['forHTTPHeaderField:', 'forKey:', 'for:'],
    expression:
      /["']([^"'\s]{16,256})["'],\s{0,4}for(?:HTTPHeaderField|Key)?:\s{0,4}["'][\w-]{0,40}(?:key|token|secret|password|authorization)["']/gi,
  },
  {
    why: 'password of a pair',
    marks: ['auth', 'credential'],
    expression:
      /(?:auth|credentials?)\w{0,12}[ =:]{0,3}[([{]\s{0,4}["'][^"'\n]{1,64}["'],\s{0,4}["']([^"'\s]{8,128})["']/gi,
    finds: 'likely',
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

/** The same for what is likely. Counts are short, as each is so many states to compile at every start. */
export const tellingPrefilters: readonly string[] = [
  '-(?:[au]|auth|user|uri|[a-z]*creds)[ =]["\']?[^ :%]+[:%][^ ]{8}',
  '-[a-z]*u ?["\']?[^ :]+:[^ ]{8}',
  '(?:auth|credential)[a-z_]*[ =:]*[(\\[{] ?["\'][^"\']+["\'], ?["\'][!-~]{8}',
  '(?:-u|--user)[ =]["\']?[^ :]{20}',
  '[-/](?:[pw]|hp)[ =:]?["\']?[!-~]{14}|[-/](?:[axntkrvcsb]|pw|ap|xp|password)[ =:]["\']?[!-~]{14}',
  '(?:login|auth|unlock|unseal|authtoken|obscure|encrypt_string|authorize(?:-account)?) (?:[!-~]{8}|[^ ]+ [!-~]{14})',
  'net user |wpa_passphrase |passwd -[a-z]|change_password |alias set |http-basic|-oauth|bundle config |upwd |user:password |refresh-token |setapikey |(?:ex|im)pdp ',
  'user [^ ]+ using |login=|sqlplus |smbclient |rpcclient |lftp |add_user ',
  '\\|[^|]{0,24}(?:login|kinit|realm|luks|crypt|passwd|keyring|keystore|secret|insert)',
  'chpasswd|-stdin|sudo -[a-z]{0,4}s|with-token|<<<',
  'community [^ ]|(?:secret|password|key|md5) [0-9] |net use ',
  '--from-literal[ =]|vault (?:kv put|write) |(?:secrets?|variable) (?:set|create|put|add) |put-parameter ',
  'htpasswd -[a-z]',
  ':(?:[0-9]{4,5}|\\*):[a-z0-9_*-]+:[a-z0-9_*-]+:',
  '(?:sess[a-z0-9_]{0,12}|sid|auth[a-z0-9_]{0,8}|token)=[!-~]{16}',
];

/** A group of words for each argument, and the last for statements: where none of them is, nothing is found. */
export const argumentMarks = [...credentialArguments.map(({ marks }) => marks), ['insert ']];
const statementMark = 1 << credentialArguments.length;

/**
 * `curl -u name:password`, `sshpass -p password`, `auth=("name", "password")`, `insert into … values (…)`: those whose marks
 * the text has, as bits by their place among `argumentMarks`.
 */
export function findCredentialArguments(text: string, marked: number): readonly Finding[] {
  if (marked === 0) return [];
  const positional = (marked & statementMark) === 0 ? [] : findPositionalPasswords(text);
  return positional.concat(findArguments(text, marked));
}

function findArguments(text: string, marked: number): Finding[] {
  return credentialArguments.flatMap(({ why, expression, finds }, number) => {
    if ((marked & (1 << number)) === 0) return [];
    return [...text.matchAll(expression)].flatMap(({ index, 0: whole, 1: password = '' }): Finding[] => {
      if (!isSecretValue(password, 'password', false)) return [];
      const start = index + whole.lastIndexOf(password);
      const end = start + password.length;
      if (finds !== undefined && isRandomValue(password, 'password'))
        return [{ start, end, confidence: 'likely', why: `${why}, random` }];
      return finds === 'random' ? [] : [{ start, end, confidence: 'possible', why }];
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
function findPositionalPasswords(text: string): Finding[] {
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
