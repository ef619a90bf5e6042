import { applyEdits, replaceTexts } from '../json/byte-edits.ts';
import { type JsonDocument, kinds } from '../json/json-document.ts';
import { shortEscapes } from '../json/short-escapes.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { ByteSearch } from '../lib/byte-search.ts';
import type { Range } from '../policy/detectors/detector.ts';

/** A text with its JSON escapes undone, and where each of its bytes came from. */
interface Unescaped {
  readonly text: Buffer;
  /** Where each byte's original spelling begins; one more entry holds the length of the original. */
  readonly origins: Uint32Array;
}

const letterU = 0x75;

/** Decodes the escapes of ASCII characters, in JSON however formatted; other escapes stay as they are. */
function unescapeJson(json: Buffer): Unescaped {
  const text = Buffer.allocUnsafe(json.length);
  const origins = new Uint32Array(json.length + 1);
  let length = 0;
  for (let at = 0; at < json.length; ) {
    const { code, size } =
      json[at] === backslash ? readEscape(json, at) : { code: json[at] as number, size: 1 };
    text[length] = code;
    origins[length] = at;
    length += 1;
    at += size;
  }
  origins[length] = json.length;
  return { text: text.subarray(0, length), origins };
}

function readEscape(json: Buffer, at: number): { code: number; size: number } {
  const letter = json[at + 1] ?? 0;
  const simple = shortEscapes[letter] ?? 0;
  if (simple !== 0) return { code: simple, size: 2 };
  const digits = json.toString('latin1', at + 2, at + 6);
  const code =
    letter === letterU && /^00[0-7][\da-f]$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
  return code === undefined ? { code: backslash, size: 1 } : { code, size: 6 };
}

/** Shorter ones would hide ordinary words in messages, and no real key is that short. */
const minLength = 8;
const shortText = 1_024;
/** How many sets of credentials that came with requests are prepared at a time. */
const maxAdded = 64;
/** How many characters they have together: prepared they take a hundred times the memory, and strangers send them too. */
const maxAddedLength = 128 * 1_024;
const replacement = '[secret]';

/** Scrubs secrets from everything that leaves: no answer, record or error may contain one. */
export class Scrubber {
  /** The same for short strings: headers, and causes of failures. */
  readonly text: (text: string) => string;
  readonly #first: Scrubber | undefined;
  readonly #own: ReadonlySet<string>;
  readonly #withMore = new Map<string, Scrubber>();
  #withLength = 0;
  #alone: Scrubber | undefined;
  readonly #spellings: ByteSearch;
  readonly #plain: ByteSearch;
  /** Character codes that occur in the secrets: only escapes of these can hide one. */
  readonly #alphabet: ReadonlySet<number>;
  #inLowerCase: readonly (readonly [lower: string, secret: string])[] | undefined;
  /** What a JSON text has in which one of them may begin, or go on from another one. */
  readonly #beginnings: RegExp;
  /** All as texts have them; the longest first. */
  readonly #inTexts: readonly string[];

  /** `first` scrubs before this one. */
  constructor(secrets: readonly string[], first?: Scrubber) {
    const long = longEnough(secrets);
    const text = createTextScrubber(secrets);
    this.text = first === undefined ? text : (whole) => text(first.text(whole));
    this.#first = first;
    this.#own = new Set(secrets);
    this.#spellings = new ByteSearch(long.flatMap(spell));
    this.#plain = new ByteSearch(long);
    this.#inTexts = [...new Set(long.flatMap(spell))].sort((one, other) => other.length - one.length);
    this.#beginnings = patternOfBeginnings(this.#inTexts);
    this.#alphabet = new Set(long.flatMap((secret) => [...Buffer.from(secret)]));
  }

  /** Whether JSON may have one, or the beginning or the rest of one in a text; a quick no for nearly all events. */
  mayBegin(json: string): boolean {
    return this.#beginnings.test(json) || this.#first?.mayBegin(json) === true;
  }

  /**
   * The places of secrets in a text that comes in pieces. `isMiddle`: what came before the text has not been seen, so that
   * it may begin with the second character of one.
   */
  secretsIn(text: string, { isMiddle }: { readonly isMiddle: boolean }): readonly Range[] {
    const places: Range[] = [...(this.#first?.secretsIn(text, { isMiddle }) ?? [])];
    // One search for all of them: of a long text, one for each would be too many.
    const mayHaveOne = text.length < shortText || this.#spellings.places(Buffer.from(text)).length > 0;
    for (const secret of this.#inTexts) {
      const rest = secret.slice(1);
      if (isMiddle && text.startsWith(rest)) places.push({ start: 0, end: rest.length });
      if (!mayHaveOne) continue;
      for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length))
        places.push({ start: at, end: at + secret.length });
    }
    return places.sort((one, other) => one.start - other.start || other.end - one.end);
  }

  /** Length of the end of a text with which a secret may begin. */
  begunLength(text: string, { isMiddle }: { readonly isMiddle: boolean }): number {
    let longest = this.#first?.begunLength(text, { isMiddle }) ?? 0;
    for (const secret of this.#inTexts) {
      if (isMiddle && text.length > longest && text.length < secret.length - 1 && secret.startsWith(text, 1))
        longest = text.length;
      const last = text.charCodeAt(text.length - 1);
      for (let length = Math.min(secret.length - 1, text.length); length > longest; length -= 1) {
        if (secret.charCodeAt(length - 1) === last && text.endsWith(secret.slice(0, length)))
          longest = length;
      }
    }
    return longest;
  }

  /** Whether a text is the greater part of one, from its beginning or its second character. */
  isMost(text: string): boolean {
    if (this.#first?.isMost(text) === true) return true;
    return (
      text.length >= minLength &&
      this.#inTexts.some(
        (secret) =>
          text.length * 2 >= secret.length && (secret.startsWith(text) || secret.startsWith(text, 1)),
      )
    );
  }

  /**
   * The texts of a document that change because one is spread over them: those at the same path but for the numbers of
   * list elements, such as parts of one message, are read as one.
   */
  across(document: JsonDocument, isElsewhere: (entry: number) => boolean): ReadonlyMap<number, string> {
    const changed = new Map<number, string>();
    for (const entries of textsByPath(document, isElsewhere).values()) {
      if (entries.length < 2) continue;
      const texts = entries.map((entry) => document.text(entry));
      const places = this.secretsIn(texts.join(''), { isMiddle: false });
      if (places.length === 0) continue;
      let start = 0;
      for (const [at, text] of texts.entries()) {
        const clean = withoutPlaces(text, start, places);
        if (clean !== text) changed.set(entries[at] as number, clean);
        start += text.length;
      }
    }
    return changed;
  }

  /** A whole answer without them, also where one is spread over several of its texts. `text` is that of the body. */
  answer(body: Buffer, text = body.toString()): Buffer {
    if (!this.mayBegin(text)) return body;
    const clean = this.bytes(body);
    const document = parseObject(clean);
    const texts = document === undefined ? new Map<number, string>() : this.across(document, () => false);
    return document === undefined || texts.size === 0 ? clean : replaceTexts(document, texts);
  }

  get secrets(): readonly string[] {
    return [...(this.#first?.secrets ?? []), ...this.#own];
  }

  has(secret: string): boolean {
    return this.#own.has(secret) || this.#first?.has(secret) === true;
  }

  /** One that also scrubs these. Preparing it costs more than a small request, and most come with the same few. */
  with(secrets: readonly string[]): Scrubber {
    const key = secrets.join('\n');
    const before = this.#withMore.get(key);
    if (before !== undefined) return before;
    const made = new Scrubber(secrets, this);
    // Those that a stranger makes up must not keep out those that recur.
    if (this.#withMore.size >= maxAdded || this.#withLength + key.length > maxAddedLength) {
      this.#withMore.clear();
      this.#withLength = 0;
    }
    this.#withLength += key.length;
    this.#withMore.set(key, made);
    return made;
  }

  /** One that scrubs only what `with` has added. */
  get added(): Scrubber {
    this.#alone ??= new Scrubber(this.#first === undefined ? [] : [...this.#own]);
    return this.#alone;
  }

  /** A secret that a header's name has, which no reader tells from the same in other letters' case. */
  inName(name: string): string | undefined {
    const plain = name.toLowerCase();
    const found = this.#first?.inName(plain);
    if (found !== undefined) return found;
    this.#inLowerCase ??= longEnough([...this.#own]).map((secret) => [secret.toLowerCase(), secret]);
    for (const [lower, secret] of this.#inLowerCase) if (plain.includes(lower)) return secret;
    return undefined;
  }

  /** The bytes without them; the same object if there are none. */
  bytes(text: Buffer): Buffer {
    const given = this.#first?.bytes(text) ?? text;
    const clean = replaced(given, this.#spellings.places(given));
    if (!this.#mayHideOne(clean)) return clean;
    const { text: plain, origins } = unescapeJson(clean);
    return replaced(
      clean,
      this.#plain
        .places(plain)
        .map(({ start, end }) => ({ start: origins[start] ?? 0, end: origins[end] ?? 0 })),
    );
  }

  /** Whether the text has an escape that JSON does not require, and that could be of a secret's character. */
  #mayHideOne(text: Buffer): boolean {
    if (text.indexOf(backslash) < 0) return false;
    let checks = 0;
    for (let at = text.indexOf('\\u00'); at >= 0; at = text.indexOf('\\u00', at + 1)) {
      checks += 1;
      // If there are many escapes, decoding them all is cheaper than looking at each.
      if (checks > maxChecks) return true;
      if (this.#alphabet.has(Number.parseInt(text.toString('latin1', at + 4, at + 6), 16))) return true;
    }
    return this.#alphabet.has(slash) && text.includes('\\/');
  }
}

function replaced(text: Buffer, places: readonly Range[]): Buffer {
  return applyEdits(
    text,
    places.map(({ start, end }) => ({ start, end, text: replacement })),
  );
}

const slash = 0x2f;
const backslash = 0x5c;
const maxChecks = 20;

/** Scrubs secrets from short strings. */
export function createTextScrubber(secrets: readonly string[]): (text: string) => string {
  const spellings = longEnough(secrets).flatMap(spell);
  // The longest first: if one secret is a prefix of another, the rest of the longer one must not be left behind.
  const patterns = [...new Set(spellings)].sort((one, other) => other.length - one.length);
  return (text) => {
    let rest = text;
    for (const pattern of patterns) if (rest.includes(pattern)) rest = rest.replaceAll(pattern, replacement);
    return rest;
  };
}

function longEnough(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets.filter((secret) => secret.length >= minLength))];
}

/**
 * Matches JSON in which a text may be part of a secret: its first four characters, a text that ends with its second or
 * third, one that begins with its second, since the first may have come before, and an escape that hides one of its
 * characters.
 */
function patternOfBeginnings(secrets: readonly string[]): RegExp {
  const beginnings = secrets.flatMap((secret) => {
    const json = JSON.stringify(secret).slice(1, -1);
    // Events are read as UTF-16, or as Latin-1 of their bytes.
    return [json, Buffer.from(json).toString('latin1')].flatMap((text) => [
      ...[text.slice(0, 4), `${text.slice(0, 2)}"`, `${text.slice(0, 3)}"`],
      ...[`"${text.slice(1, 2)}"`, `"${text.slice(1, 3)}"`, `"${text.slice(1, 4)}`],
    ]);
  });
  const letters = secrets.join('');
  if (letters === '') return /(?!)/;
  // One class for all letters: an alternative for each would be slower than the events that it spares.
  const escapes = /^[\x00-\x7f]*$/.test(letters) ? '\\\\u00[0-7]' : '\\\\u';
  const slashes = letters.includes('/') ? ['\\\\/'] : [];
  return new RegExp([...new Set(beginnings.map(literal)), escapes, ...slashes].join('|'));
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** The strings of a document by their paths without the numbers of list elements, in their order. */
function textsByPath(
  document: JsonDocument,
  isElsewhere: (entry: number) => boolean,
): ReadonlyMap<string, readonly number[]> {
  const byPath = new Map<string, number[]>();
  const walk = (entry: number, path: string): void => {
    switch (document.kind(entry)) {
      case kinds.string: {
        if (isElsewhere(entry)) return;
        const same = byPath.get(path);
        if (same === undefined) byPath.set(path, [entry]);
        else same.push(entry);
        return;
      }
      case kinds.array:
        for (const element of document.elements(entry)) walk(element, path);
        return;
      case kinds.object:
        for (let key = entry + 1; key < document.next(entry); key = document.next(key + 1))
          walk(key + 1, `${path}/${document.text(key)}`);
    }
  };
  walk(document.root, '');
  return byPath;
}

/** A text without what lies in it of places in a longer one; what replaces a place stands where that begins. */
function withoutPlaces(text: string, start: number, places: readonly Range[]): string {
  let clean = '';
  let at = 0;
  for (const place of places) {
    const from = Math.max(place.start - start, at);
    const to = Math.min(place.end - start, text.length);
    if (to <= from) continue;
    clean += text.slice(at, from) + (place.start >= start ? replacement : '');
    at = to;
  }
  return at === 0 ? text : clean + text.slice(at);
}

function parseObject(bytes: Buffer): JsonDocument | undefined {
  try {
    return parseStrictJson(bytes);
  } catch {
    return undefined; // no strict JSON: its bytes have been scrubbed
  }
}

/** A secret as it is, and as JSON and URLs encode it. */
function spell(secret: string): string[] {
  const url = encodeURIComponent(secret);
  const lower = url.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase());
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), url, lower])];
}
