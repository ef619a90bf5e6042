import {
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml';
import { type Entries, type Entry, entriesOf, type ParsedText, type Part, type Range } from './layout.ts';

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
export function parsePlain(text: string): ParsedText | undefined {
  if (odd.test(text)) return undefined;
  try {
    const events = parseEvents(text, {});
    const after = new Int32Array(events.length);
    const value = readEvents({ text, events, after });
    return value === oddity ? undefined : { value, root: partAt(1, { text, events, after }), faults: [] };
  } catch {
    return undefined; // the other parser says what is wrong
  }
}

const oddity = Symbol('what only the other parser reads');

interface Source {
  readonly text: string;
  readonly events: readonly Event[];
  /** For the number of each event that begins a part, that of the first one behind the part. */
  readonly after: Int32Array;
}

interface Open {
  readonly at: number;
  readonly value: unknown[] | Record<string, unknown>;
  /** Of a map, when its value comes next. */
  key: string | undefined;
}

/**
 * The value of a document, and in `after` where its parts end. The parser's own constructor takes twice as long, since
 * it is made for types that a configuration doesn't have.
 */
function readEvents({ text, events, after }: Source): unknown {
  let root: unknown = null;
  const open: Open[] = [];
  let parent: Open | undefined;
  for (let at = 0; at < events.length; at += 1) {
    const event = events[at];
    if (event === undefined || !isPlain(event) || (event.type === EVENT_ID.DOCUMENT && at > 0)) return oddity;
    after[at] = at + 1;
    if (event.type === EVENT_ID.DOCUMENT) continue;
    if (event.type === EVENT_ID.POP) {
      after[parent?.at ?? 0] = at + 1;
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
    parent = { at, value: collection, key: undefined };
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

/** Parts are made when they are asked for: most files are read without a word about them. */
function partAt(at: number, source: Source): Part | undefined {
  const event = source.events[at];
  if (event?.type === EVENT_ID.SCALAR) {
    if (event.valueStart < 0) return undefined;
    return { ...rangeOf(event), text: getScalarValue(source.text, event) };
  }
  if (event?.type !== EVENT_ID.MAPPING && event?.type !== EVENT_ID.SEQUENCE) return undefined;
  let entries: Entries | undefined;
  return {
    start: event.start,
    get end(): number {
      // A block ends where its last line does, or later.
      return event.style === COLLECTION_STYLE.FLOW ? endOfFlow(at, source) : source.text.length;
    },
    entries() {
      const isList = event.type === EVENT_ID.SEQUENCE;
      entries ??= entriesOf(isList ? itemsOf(at, source) : pairsOf(at, source), isList);
      return entries;
    },
  };
}

function itemsOf(at: number, source: Source): readonly Entry[] {
  const items: Entry[] = [];
  const end = behind(at, source) - 1;
  for (let item = at + 1; item < end; item = behind(item, source))
    items.push({ value: partAt(item, source) });
  return items;
}

function pairsOf(at: number, source: Source): readonly Entry[] {
  const pairs: Entry[] = [];
  const end = behind(at, source) - 1;
  for (let key = at + 1; key < end; ) {
    const value = behind(key, source);
    pairs.push({ key: partAt(key, source), value: partAt(value, source) });
    key = behind(value, source);
  }
  return pairs;
}

function behind(at: number, { events, after }: Source): number {
  return after[at] ?? events.length;
}

/** With its quotes. */
function rangeOf({ style, valueStart, valueEnd }: ScalarEvent): Range {
  const quotes = style === SCALAR_STYLE.PLAIN ? 0 : 1;
  return { start: valueStart - quotes, end: valueEnd + quotes };
}

/** Behind the bracket that closes a collection in `{ }` or `[ ]`: only commas, spaces and comments are left before it. */
function endOfFlow(at: number, { text, events, after }: Source): number {
  let end = 0;
  for (const event of events.slice(at, after[at])) {
    if (event.type === EVENT_ID.SCALAR && event.valueStart >= 0) end = rangeOf(event).end;
    else if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) end = event.start + 1;
    else if (event.type === EVENT_ID.POP) end = closing(text, end);
  }
  return end;
}

function closing(text: string, from: number): number {
  const bracket = /(?:#.*|[^#\]}])*[\]}]/y;
  bracket.lastIndex = from;
  return bracket.test(text) ? bracket.lastIndex : text.length;
}
