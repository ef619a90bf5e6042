import type { Finding, Range } from '../detector.ts';
import { isWordCharacter } from '../text/characters.ts';
import { AnnouncedKeys, NamedValues, type Opening } from './named-values.ts';
import { quotedSetting } from './quoted-setting.ts';
import { kindOfName, type NameKind } from './secret-names.ts';
import { isRandomValue } from './secret-value.ts';

const maxNameLength = 48;

/**
 * Values assigned to a name that suggests a secret, in settings, markup, shells, queries, headers and program code.
 * Gets the words for secrets in the text; every step reads a bounded number of characters.
 */
export function findNamedSecrets(text: string, words: readonly Range[]): readonly Finding[] {
  if (words.length === 0) return [];
  const findings: Finding[] = [];
  const values = new NamedValues(text);
  const announced = new AnnouncedKeys(text);
  const kinds = new NameKinds();
  let from = 0;
  for (const word of words) {
    if (word.start < from) continue;
    const start = nameStart(text, word.start);
    const end = nameEnd(text, word.end);
    // The name continues, so nothing is assigned here; a second keyword in the same name adds nothing.
    const continues = end - word.end === maxNameLength;
    from = continues ? word.start + maxNameLength / 4 : end;
    if (continues) continue;
    if (after(prose, text, end) !== undefined && !announced.isNear(end)) continue;
    const named = kinds.of(text.slice(start, end));
    const kind = named === 'bare key' ? kindOfKey(text, { start, end }) : named;
    if (kind === undefined || otherOwner.test(text.slice(Math.max(0, start - 24), start))) continue;
    const setting = quotedSetting(text, { start, end }, kind);
    if (setting !== undefined) {
      findings.push({ ...setting, confidence: 'likely', why: `${whyOf(kind)}, in quotation marks` });
      from = setting.end;
      continue;
    }
    const opening = openingOf(text, { start, end });
    const given = opening === undefined ? undefined : values.at(opening, kind);
    const found = given ?? (kind === 'bare key' ? undefined : announced.behind(end));
    if (found === undefined) continue;
    const certainty = certaintyOf(text, { name: { start, end }, value: found, kind });
    findings.push({ ...found, ...certainty });
    // "the key is API_KEY=…": what is only possible may hold a name whose value is likely.
    from = certainty.confidence === 'possible' ? end : found.end;
  }
  return findings;
}

/**
 * A word that is no value, and that says nothing of one: "tokens from a provider". Most names in texts are followed by
 * one, and to look for everything else takes twenty times as long.
 */
const prose =
  /[ \t](?!(?:is|ist|lautet|est|es|was|to|by|jest|er|on|bearer|basic|token|apikey|bot|key)[ \t])[a-z]{2,11}(?:[ \t][a-z]|[.,;]?[\r\n]|[.,;][ \t])/y;

/** `checksum/secret: …`, `"encrypted": {"token": "…"}`, `arn:aws:secretsmanager:…:123456789012:secret:…` */
const otherOwner =
  /\d{12}:$|(?:checksum|hash|digest|sha\d{1,3}|encrypted)(?:[/.]|["']?\s?:\s?\{\s{0,8}["']?)$/i;

const knownNames = 64;

/** Caches what names mean: texts repeat their names, hostile ones tens of thousands of times. */
class NameKinds {
  readonly #known = new Map<string, NameKind | undefined>();

  of(name: string): NameKind | undefined {
    const known = this.#known.get(name);
    if (known !== undefined || this.#known.has(name)) return known;
    if (this.#known.size >= knownNames) this.#known.clear();
    const kind = kindOfName(name);
    this.#known.set(name, kind);
    return kind;
  }
}

/** `?key=…`, `secret key: …` */
function kindOfKey(text: string, { start, end }: Range): NameKind {
  const isQuery = '?&'.includes(text.charAt(start - 1)) && text.charAt(end) === '=';
  return isQuery || wordBeforeKey.test(text.slice(Math.max(0, start - 16), start)) ? 'token' : 'bare key';
}

const wordBeforeKey =
  /(?:^|[^A-Za-z])(?:secret|access|private|licen[sc]e|signing|encryption|account|auth|service|admin|master|activation|app|shared|storage) $/i;

function nameStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && at - start < maxNameLength && isNameCharacter(text.charCodeAt(start - 1))) start -= 1;
  // In `\npassword` the letter of the escape is not part of the name.
  if (text.charCodeAt(start - 1) === 92 && /[nrt]/.test(text.charAt(start))) start += 1;
  return Math.min(start, at);
}

function nameEnd(text: string, at: number): number {
  let end = at;
  while (end - at < maxNameLength && isNameCharacter(text.charCodeAt(end))) end += 1;
  return end;
}

/** Word characters, hyphens and dots. */
function isNameCharacter(code: number): boolean {
  return isWordCharacter(code) || code === 45 || code === 46;
}

const closers = /\\{0,3}(?:\*\*)?["'`]?(?:\[\d{0,4}\])?\]?\)?[ \t]{0,24}(?:<const>[ \t])?/y;
/** `"name": "password", "value": "…"`, `key="password" value="…"`, `password: { value: "…" }`, in YAML too. */
const valueBeside =
  /(?:,|:\s{0,4}\{?)?\s{0,24}(?:<\/label>\s{0,24}<input\s|(?:[\w-]{1,20}=["'][^"'<>]{0,40}["']\s{1,4}){0,4})?\\{0,3}["']?(?:value|default|plain|data|content)\\{0,3}["']?\s{0,4}[:=]\s{0,4}/iy;
const separator =
  /[ \t]?[–—][ \t]|[ \t]-[ \t](?=["'`])|:=|=>|->|<-|={1,3}|(?:\|\||\?\?|\?:|or)[ \t]{1,2}(?=["'`])|\|[ \t]{1,12}|<\/\w{1,10}>\s{0,24}<\w{1,10}>|:(?!:)(?:\*\*)?\s{0,2}|%3D|,[ \t]{0,24}(?=\\{0,3}["'`])|\([ \t]{0,2}(?=[@bruf]?["'`])/y;
const attributeEnd = /["'][^<>=]{0,40}>/y;
/** `val token by lazy { "…" }` */
const lazily = /by lazy \{\s{0,4}(?=["'])/y;
/** `variable "api_token" { default = "…" }` */
const defaultOf =
  /"?\s{0,4}\{\s{0,40}(?:(?:type|sensitive|nullable|description)\s{0,12}=\s{0,4}(?:\w{1,12}|"[^"\n]{0,120}")\s{1,40}){0,4}default\s{0,12}=\s{0,4}(?=")/y;
/** `fun token() = "…"`, `get token() { return "…"; }` */
const returned = /\(\)[^\n{}"'();]{0,40}[{=>]{1,2}\s{0,12}(?:return\s)?\s{0,4}(?=["'`])/y;
/** `password: &str = "…"` */
const annotation = /&?(?:'static )?[A-Za-z_][\w.<>?[\]]{0,30}[ \t]{0,2}=[ \t]{0,2}(?=["'`@])/y;
/** `var password string = "…"` */
const declaration = /(?:As )?[A-Za-z*][\w.[\]]{0,20}[ \t]{1,2}:?=[ \t]{0,2}(?=["'`])/y;
/** `the password is …`, `mot de passe : …` */
const copula =
  /(?:(?:is|ist|lautet|est|es|was|è|é|to|by|jest|är|er|on)(?:[ \t]{1,2}(?:now |set to )?:?[ \t]?|:[ \t])|is:[ \t]|['’]s[ \t])/iy;
/** `password 8xK…`: mixed case and digits, which no word has. */
const mixedValue =
  /(?=[A-Za-z]{0,20}\d)(?=[\da-z]{0,20}[A-Z])(?=[\dA-Z]{0,20}[a-z])[A-Za-z0-9]{12,64}(?![\w(.=:/-])/y;
/** `密码是 …`, `パスワードは「…」` */
const particle = /[ \t]?(?:は|是|为|為|는|은|이|가)[ \t:：]{0,3}/y;
const typographicQuote = /[«„“「『‘][ \t\u00a0]?/y;
const beforeQuote =
  /\s{0,24}(?:[@bruNf]{1,2}(?=["'`])|<<(?=["'])|[\w.:[\]]{1,30}\((?=[@bruNf]?["'`])|\[\s{0,12}(?=["'`]))?\\{0,3}(?:"""|'''|["'`](?:\\{1,3}["'])?)/y;
const scheme = /(?:bearer|basic|token|apikey|bot|key)[ \t]{1,2}/iy;
/** `Authorization: Acme token="…"` */
const anyScheme = /(?:[a-z][\w-]{1,24}:?[ \t]{1,2})?(?:(?:token|key|auth|apikey|api_key)=["']?)?/iy;

function openingOf(text: string, name: Range): Opening | undefined {
  const isTag = text.charCodeAt(name.start - 1) === 60 && text.charCodeAt(name.end) === 62;
  if (isTag) return { at: name.end + 1, quote: undefined, isTag };
  const tagEnd = namesElement(text, name.start) ? after(attributeEnd, text, name.end) : undefined;
  if (tagEnd !== undefined) return { at: tagEnd, quote: undefined, isTag: true };
  const closed = after(closers, text, name.end) ?? name.end;
  const at =
    after(valueBeside, text, closed) ??
    after(defaultOf, text, name.end) ??
    after(lazily, text, closed) ??
    after(returned, text, name.end) ??
    separated(text, name, closed);
  if (at === undefined) return undefined;
  const isHeader = /auth(?:orization)?$/i.test(text.slice(name.start, name.end));
  return opened(text, at, isHeader ? anyScheme : scheme);
}

/** `<string name="api_token">…</string>` */
function namesElement(text: string, at: number): boolean {
  return /<[^<>]{1,40}=["']$/.test(text.slice(Math.max(0, at - 48), at));
}

/** Where a value may begin, after what separates it from its name. */
function separated(text: string, name: Range, closed: number): number | undefined {
  const at = after(separator, text, closed);
  if (at !== undefined) return after(annotation, text, at) ?? at;
  const particled = after(particle, text, name.end);
  if (particled !== undefined) return particled;
  if (closed === name.end) return undefined;
  const declared = after(declaration, text, closed);
  if (declared !== undefined) return declared;
  const stated = after(copula, text, closed);
  if (stated !== undefined) return stated;
  const isOption = text.startsWith('-', name.start);
  const isLogin = behindLogin.test(text.slice(Math.max(0, name.start - 80), name.start));
  if (after(mixedValue, text, closed) !== undefined) return closed;
  const isHeader = /^(?:bearer|identified by)$/i.test(text.slice(name.start, name.end));
  return isOption || isLogin || isHeader || /["']/.test(text.charAt(closed)) ? closed : undefined;
}

function opened(text: string, from: number, beforeValue: RegExp): Opening {
  const quoted = after(beforeQuote, text, from);
  let at = quoted ?? from;
  while (quoted === undefined && at - from < 24 && (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9))
    at += 1;
  const quote = quoted === undefined ? undefined : text.charAt(quoted - 1);
  if (quoted === undefined) at = after(typographicQuote, text, at) ?? at;
  return { at: after(beforeValue, text, at) ?? at, quote, isTag: false };
}

/** Where a sticky expression's match ends; undefined if there is none. */
function after(expression: RegExp, text: string, at: number): number | undefined {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : undefined;
}

interface NamedValue {
  /** The whole name, which may contain more than the keyword. */
  readonly name: Range;
  readonly value: Range;
  readonly kind: NameKind;
}

/** In a connection string the name is between semicolons: `Server=…;Password=…;`. */
function certaintyOf(text: string, { name, value, kind }: NamedValue): Pick<Finding, 'confidence' | 'why'> {
  const { start } = name;
  const isConnection =
    /;\s?(?:[A-Za-z]{2,12} )?$/.test(text.slice(Math.max(0, start - 14), start)) &&
    text.charAt(value.end) === ';';
  if (isConnection) return { confidence: 'likely', why: 'connection string' };
  const why = whyOf(kind);
  if (!isAssignment(text, name, value) || !isRandomValue(text.slice(value.start, value.end), kind))
    return { confidence: 'possible', why };
  return { confidence: 'likely', why: `${why}, random` };
}

function whyOf(kind: NameKind): string {
  return `named a ${kind === 'password' ? 'password' : 'key or token'}`;
}

const assigned = /^(?:\\{0,3}["'`])?\s{0,2}(?:[:=]|:=|=>)\s{0,2}(?:\\{0,3}["'`])?$/;
/** `Authorization: Bearer …` */
const assignedWithScheme =
  /^(?:\\{0,3}["'`])?\s{0,2}[:=]\s{0,2}(?:\[\s{0,12})?(?:f?\\{0,3}["'`])?(?:bearer|basic|token|bot|apikey|key)[ \t]{1,2}$/i;
const behindOption = /^(?:["'],?)?[ \t]{1,4}["']?$/;
/** `machine api.example.org login me password …` of `.netrc`, `npm config set //host/:_authToken …`, `setx API_KEY …` */
const behindLogin =
  /\b(?:login|machine)\s\S{1,64}\s{1,8}$|\buser \S{1,64} $|\bset(?:env|x)?(?: -{1,2}\w{1,12})? $|\bconfig(?:ure)?(?: -{1,2}[\w-]{1,20})*(?: set)?(?: -{1,2}\w{1,12})? \S{0,40}$/;

/** `WITH PASSWORD '…'`, `IDENTIFIED BY '…'`, `ConvertTo-SecureString '…'` */
const statement = /(?:\bwith password|\bidentified by|-securestring)$/i;

/** A setting: `NAME=value`, `name: "value"`, a header, an option, a login. In prose and code a name says less. */
function isAssignment(text: string, name: Range, value: Range): boolean {
  const between = text.slice(name.end, value.start);
  if (assigned.test(between)) return true;
  const written = text.slice(name.start, name.end);
  if (/auth(?:orization)?$/i.test(written) && assignedWithScheme.test(between)) return true;
  if (written.startsWith('-') && behindOption.test(between)) return true;
  if (/^[ \t]{1,4}['"]?$/.test(between) && statement.test(text.slice(Math.max(0, name.start - 8), name.end)))
    return true;
  return (
    /^[ \t]{1,4}["']?$/.test(between) &&
    behindLogin.test(text.slice(Math.max(0, name.start - 80), name.start))
  );
}
