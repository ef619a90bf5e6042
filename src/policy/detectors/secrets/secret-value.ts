import { isPublished } from '../shapes/bare-key.ts';
import { isNamedDigest } from '../shapes/key-prefix.ts';
import { randomBody, randomRun, uuid } from '../shapes/random-run.ts';
import {
  isMarkedExample,
  isPlaceholder,
  isRepetitive,
  isSampleToken,
  isStockPassword,
} from './placeholder.ts';
import { looksRandom } from './randomness.ts';
import type { NameKind } from './secret-names.ts';

const minLength: Readonly<Record<NameKind, number>> = {
  password: 6,
  token: 10,
  key: 16,
  'bare key': 20,
};
const minBareBits = 110;
const maxLength = 400;

export const template =
  /\$\{|\$\(|\{\{|\}\}|<%|%>|%\(|%[sdv]\b|^%\w+%$|^\$\w|^<|>$|\.\.\.|…|\*{3}|•|x{4}|X{4}|#\{|^\{|^\[|^@\w+\.|^\(/;
const reference = /^[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.|\[)[\w$'"\]]+)+$/;
/** `ensureIndexes()`, `0:this._stats.count`: program code, also in quotation marks. */
const program = /^[\w.$]+\(\)$|\bthis\./;
const path =
  /^(?:\.{0,2}\/|~\/|[A-Za-z]:\\|\\\\)|\.(?:js|ts|tsx|jsx|json|md|pem|crt|key|txt|ya?ml|html?|css|py|rb|go|php|java|sh|conf|cfg|ini|env|png|svg)$/;
export const address =
  /^[a-z][a-z0-9+.-]*:\/\/|^www\.|^[\w.+-]+@[\w-]+\.[\w.-]+$|^(?:application|text|image|audio|video|multipart)\/|^data:|^urn:/i;
const variable = /^[A-Za-z_$][\w$]*\$[\w$]*$/;
export const lockHash = /^(?:sha(?:1|224|256|384|512)|md5|blake\w*)[-:]/i;
/** The fingerprint of a PGP key, the address of a contract. */
const publicNumber = /^(?:(?=.*[A-F])[0-9A-F]{40}|0x[0-9a-fA-F]{40})$/;
const dateOrNumber = /^[\d.,:/ TZ+-]+$/;
const stockValues =
  /^(?:true|false|null|none|nil|undefined|string|number|boolean|object|required|optional|disabled|enabled|default|password\d{0,4}!?|passw0rd\d*!?|p@ss\w*|secret\d*|qwert\w*|letmein\w*|hunter2|admin\d*|test\w*|foo\w*|example\w*|correct[- ]?horse\w*|s3cr3t\w*|pass\d+!?|abcd?\d*|my[-_]?\w*(?:password|secret|token|key)\w*|your\w*|change[-_]?\w*|insert\w*|todo|tbd|n\/a)$/i;

/**
 * Whether a value assigned to a secret's name looks like a secret, and not like an example, a path, a call or a word.
 */
export function isSecretValue(value: string, kind: NameKind, isQuoted: boolean): boolean {
  if (value.length < minLength[kind] || value.length > maxLength) return false;
  if (kind === 'password' && isQuoted && isPassPhrase(value)) return true;
  if (isQuoted && isNoise(value)) return true;
  if (/[\s\u0000-\u001f]/.test(value) || template.test(value) || stockValues.test(value)) return false;
  if (kind !== 'password' && (publicNumber.test(value) || isPublished(value))) return false;
  if (isMarkedExample(value) || isSampleToken(value)) return false;
  if (kind === 'bare key') return isQuotedKey(value);
  if (path.test(value) && !isBase64(value)) return false;
  if ([address, lockHash, dateOrNumber, program].some((each) => each.test(value))) return false;
  if (reference.test(value) && !isDottedToken(value)) return false;
  if (
    !isQuoted &&
    (/^!{1,2}[A-Za-z_.:]+$|[(){}[\];]|^[A-Za-z_-]{2,24}=[^=]/.test(value) || variable.test(value))
  )
    return false;
  if (uuid.test(value)) return kind !== 'key' && !isRepetitive(value.toLowerCase(), 6);
  if (isPlaceholder(value)) return kind === 'password' && isLettersOnly(value);
  const password = passwordOfLogin(value);
  if (password !== undefined) return !isStockLogin(password);
  if (kind === 'password') return isPassword(value);
  return isKey(value, isQuoted) && (kind === 'token' || /\d/.test(value));
}

/** Bits from which a named value is likely a secret: fourteen random letters and digits, twenty hex digits. */
const minRandomBits: Readonly<Record<NameKind, number>> = {
  password: 70,
  token: 70,
  key: 95,
  'bare key': minBareBits,
};

/** Whether a value that passed `isSecretValue` is so random that its name leaves hardly a doubt. */
export function isRandomValue(value: string, kind: NameKind): boolean {
  if (uuid.test(value)) return kind === 'token';
  const password = passwordOfLogin(value);
  if (password !== undefined) return isRandomValue(password, 'password');
  if (value.length < 14 || !/^[\w+/=.~:!@#$%^&*?-]+$/.test(value)) return false;
  return (randomBody(value)?.bits ?? 0) >= minRandomBits[kind];
}

/** All of printable ASCII, as WordPress generates salts: code and expressions repeat their signs. */
function isNoise(value: string): boolean {
  if (value.length < 40 || !/^[ -~]+$/.test(value) || new Set(value).size < value.length * 0.55) return false;
  const share = (set: RegExp) => (value.match(set)?.length ?? 0) / value.length;
  const isMixed = [/[a-z]/g, /[A-Z]/g, /[^A-Za-z0-9]/g].every((set) => share(set) >= 0.1) && /\d/.test(value);
  return isMixed && !/[a-z]{5}/.test(value);
}

/** Something called a key that also looks like one. Objects have keys, too, and some of those are identifiers. */
function isQuotedKey(value: string): boolean {
  if (isNamedDigest(value)) return false;
  const random = /^[\w+/=-]+$/.test(value) && !isPlaceholder(value) ? randomRun(value) : undefined;
  return random !== undefined && random.bits >= minBareBits;
}

/** One in 64 random values begins with a slash. */
function isBase64(value: string): boolean {
  return /^\/[A-Za-z0-9+/]{23,}={0,2}$/.test(value) && randomRun(value)?.alphabet === 'mixed';
}

/** Random parts separated by dots, or one long one: a token, not `config.auth.token`. */
function isDottedToken(value: string): boolean {
  const parts = value.split(/[^\w-]+/);
  const isRandom = parts.every((part) => part.length >= 5 && looksRandom(part)) && /\d/.test(value);
  return (
    isRandom || parts.some((part) => part.length >= 20 && /(?:\d\D*){4}/.test(part) && looksRandom(part))
  );
}

/**
 * Random printable ASCII, as generators of settings files write it: brackets only inside quotation marks, and no calls.
 */
function isOfKeyCharacters(value: string, isQuoted: boolean): boolean {
  if (/^[\w+/=.~:!@#$%^&*|?,-]+$/.test(value)) return true;
  return isQuoted && /^[!-[\]-~]{20,}$/.test(value) && !/["'`]|\w\([^()]*\)|\(\)|^[\w.]+[([{]/.test(value);
}

function isKey(value: string, isQuoted: boolean): boolean {
  if (!isOfKeyCharacters(value, isQuoted)) return false;
  const letters = /[a-z]/i.test(value);
  const isMixed = /\d/.test(value) || (/[a-z]/.test(value) && /[A-Z]/.test(value)) || isOneCase(value);
  if (value.length < 12 && !/[a-z].*\d|\d.*[a-z]/i.test(value)) return false;
  return letters && isMixed && looksRandom(value) && wordsOf(value) < value.length * 0.5;
}

/** The password in the base64 of `user:password`. */
function passwordOfLogin(value: string): string | undefined {
  if (!/^[A-Za-z0-9+/]{8,}={0,2}$/.test(value)) return undefined;
  return /^[\w.@+-]{1,64}:([ -~]{1,128})$/.exec(Buffer.from(value, 'base64').toString('latin1'))?.[1];
}

/** `pass`, and `open sesame` of the RFC: what stands for a password. */
function isStockLogin(password: string): boolean {
  const isStock = stockValues.test(password) || isStockPassword(password) || isPlaceholder(password);
  return isStock || password.length < minLength.password || / /.test(password) || template.test(password);
}

/** Sixteen letters or more of one case, as some services generate passwords; words consist of common pairs. */
function isLettersOnly(value: string): boolean {
  return value.length >= 16 && isOneCase(value) && wordsOf(value) === 0 && !isPlaceholder(`${value}7`);
}

/** Letters of one case in which words are as rare as in random ones. */
function isOneCase(value: string): boolean {
  return /^(?:[a-z]{12,}|[A-Z]{12,})$/.test(value) && looksRandom(value) && !isRepetitive(value, 7);
}

/** Letters alone that change between lower and upper case, which no name does. */
function isMixedLetters(value: string): boolean {
  return /^[A-Za-z]+$/.test(value) && changesCase(value) && looksRandom(value) && wordsOf(value) === 0;
}

const phrase = /^[a-z]{3,10}([ -])(?:[a-z]{3,10}\1){2,6}[a-z]{3,10}$/;
/** Words from labels and messages about passwords. */
const labelWords =
  /\b(?:the|and|your|you|for|with|this|that|enter|please|must|not|can|are|has|was|from|same|new|old|change|confirm|forgot|log|name|hint|show|hide|again|match|wrong|invalid|current|here|correct|horse|pass\w*|all|any|one|two|use|used|using|set|get|only|too|short|long|min|max)\b/;

/** Four or more words that form no sentence. */
function isPassPhrase(value: string): boolean {
  return phrase.test(value) && !labelWords.test(value) && wordsOf(value) === 0;
}

function isPassword(value: string): boolean {
  if (isStockPassword(value)) return false;
  if (/^[a-z]{6,12}\d{2,4}$/.test(value) && wordsOf(value) === 0) return true;
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((each) => each.test(value)).length;
  if (isOneCase(value) || isMixedLetters(value)) return true;
  if (value.length < 8 && (classes < 3 || !/[!@#$%^&*?+~]/.test(value) || !/\d/.test(value))) return false;
  if (classes < 2 || /^[a-z]+(?:[-_.:/][a-z]+)*$/i.test(value)) return false;
  // Names in program code have no other signs, and consist of words.
  const isName = /^[\w.:/-]+$/.test(value) && !changesCase(value);
  if (isName && classes < 4 && !looksRandom(value)) return false;
  return classes >= 3 || looksRandom(value) || changesCase(value);
}

/** Whether a word changes between lower and upper case as often as random letters do. */
function changesCase(value: string): boolean {
  const changes = value.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0;
  return value.length >= 12 && changes >= value.length * 0.4;
}

const commonWords =
  /access|account|action|admin|api|app|auth|base|button|cache|client|code|config|content|create|data|default|delete|error|event|field|file|form|function|handler|header|input|item|key|label|list|login|manager|message|method|model|module|name|node|object|option|output|page|param|password|path|plugin|policy|private|public|query|record|refresh|request|required|reset|resource|response|result|role|route|schema|secret|server|service|session|setting|state|status|string|style|system|table|template|test|text|token|type|update|url|user|valid|value|version|view/gi;

/** Characters in words that names consist of. */
function wordsOf(value: string): number {
  return (value.match(commonWords) ?? []).reduce((sum, word) => sum + word.length, 0);
}
