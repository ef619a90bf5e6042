import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import { parseStrictJson } from '../../json/strict-json.ts';

/** Texts that the two parsers read differently. */
const odd = /\\[xuU]|[\t\ufeff]|\r(?!\n)|^\.\.\./m;
/** Keys that are numbers or the like, unless they stand in quotes. */
const oddKey = /[-+.\d~]|(?:null|true|false)\b/iy;
/** Keys of which the other parser says that they are none; in quotes one may be written on several lines. */
const refusedKeys: ReadonlySet<string> = new Set(['__proto__', '<<']);

/**
 * The value of a text in which nothing is wrong or out of the ordinary, by the parser that is ten times as fast as the
 * other; it stops at the first mistake, so what is said about mistakes comes from the other. Undefined where the two
 * could differ: for tags, anchors, aliases, directives, markers of documents, and keys that are no names.
 */
export function parsePlain(text: string): { readonly value: unknown } | undefined {
  if (odd.test(text)) return undefined;
  try {
    const value = readEvents(text, parseEvents(text, {}));
    return value === oddity ? undefined : { value };
  } catch {
    return undefined; // the other parser says what is wrong
  }
}

const oddity = Symbol('what only the other parser reads');

interface Open {
  readonly value: unknown[] | Record<string, unknown>;
  /** Of a map, when its value comes next. */
  key: string | undefined;
}

/** The parser's own constructor takes twice as long, since it is made for types that a configuration doesn't have. */
function readEvents(text: string, events: readonly Event[]): unknown {
  let root: unknown = null;
  const open: Open[] = [];
  let parent: Open | undefined;
  for (const event of events) {
    if (!isPlain(event) || (event.type === EVENT_ID.DOCUMENT && event !== events[0])) return oddity;
    if (event.type === EVENT_ID.DOCUMENT) continue;
    if (event.type === EVENT_ID.POP) {
      parent = open.pop();
      continue;
    }
    if (parent !== undefined && !Array.isArray(parent.value) && parent.key === undefined) {
      if (!isName(event, text)) return oddity;
      parent.key = getScalarValue(text, event);
      // The other parser says where it stands the first time.
      if (refusedKeys.has(parent.key) || Object.hasOwn(parent.value, parent.key)) return oddity;
      continue;
    }
    const collection =
      event.type === EVENT_ID.SEQUENCE ? [] : event.type === EVENT_ID.MAPPING ? {} : undefined;
    const value = collection ?? (event.type === EVENT_ID.SCALAR ? scalarOf(event, text) : oddity);
    if (value === oddity) return oddity;
    if (parent === undefined) root = value;
    else if (Array.isArray(parent.value)) parent.value.push(value);
    else parent.value[parent.key ?? ''] = value;
    if (parent !== undefined) parent.key = undefined;
    if (collection === undefined) continue;
    if (parent !== undefined) open.push(parent);
    parent = { value: collection, key: undefined };
  }
  return root;
}

// Of YAML's core schema (https://yaml.org/spec/1.2.2/#1032-tag-resolution).
const numeral = /^(?:[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)$/;
const words = new Map([
  ...['~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);

function scalarOf(event: ScalarEvent, text: string) {
  if (event.valueStart < 0) return null;
  const scalar = getScalarValue(text, event);
  if (event.style !== SCALAR_STYLE.PLAIN || !/^[-+.\d~nNtTfF]/.test(scalar)) return scalar;
  const word = words.get(scalar);
  if (word !== undefined) return word;
  if (numeral.test(scalar)) return Number(scalar);
  return /^[-+]?\.(?:inf|nan)$/i.test(scalar) ? oddity : scalar;
}

function isName(event: Event, text: string): event is ScalarEvent {
  if (event.type !== EVENT_ID.SCALAR || event.valueStart < 0) return false;
  oddKey.lastIndex = event.valueStart;
  return event.style !== SCALAR_STYLE.PLAIN || !oddKey.test(text);
}

function isPlain(event: Event): boolean {
  switch (event.type) {
    case EVENT_ID.DOCUMENT:
      return !event.explicitStart && !event.explicitEnd && event.directives.length === 0;
    case EVENT_ID.SCALAR:
      return event.tagStart < 0 && event.anchorStart < 0 && !isBlock(event);
    case EVENT_ID.SEQUENCE:
    case EVENT_ID.MAPPING:
      return event.tagStart < 0 && event.anchorStart < 0;
    case EVENT_ID.POP:
      return true;
    case EVENT_ID.ALIAS:
      return false;
  }
}

/** The parsers disagree about empty lines and the end of texts after `|` and `>`, of which large files have none. */
function isBlock({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;
}

/**
 * What JSON and YAML read differently, or might: other characters, white space between a key and its colon, keys that
 * mean something else.
 */
const unusual = /[^\n\r -~]|\r(?!\n)|\\[^"\\/bfnrt]|"[ \r\n]+:|"(?:__proto__|<<)"/;

/** YAML finds no longer key on a line (https://yaml.org/spec/1.2.2/#742-flow-mappings). */
const longestKey = 1_000;

/** The value of a text that is JSON, and that YAML reads the same. Undefined for everything else. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  if (!text.startsWith('{') || unusual.test(text)) return undefined;
  try {
    // It refuses what is there twice.
    const document = parseStrictJson(Buffer.from(text, 'latin1'));
    for (let at = 0; at < document.count; at += 1) {
      if (document.isKey(at) && document.end(at) - document.start(at) > longestKey) return undefined;
    }
    return { value: JSON.parse(text) };
  } catch {
    return undefined; // the other parser says what is wrong
  }
}
