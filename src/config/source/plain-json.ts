import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import { type Entries, type Entry, entriesOf, type ParsedText, type Part } from './layout.ts';

/**
 * What JSON and YAML read differently, or might: other characters, white space between a key and its colon, keys that
 * mean something else.
 */
const unusual = /[^\n\r -~]|\r(?!\n)|\\[^"\\/bfnrt]|"[ \r\n]+:|"(?:__proto__|<<)"/;

/** YAML finds no longer key on a line (https://yaml.org/spec/1.2.2/#742-flow-mappings). */
const longestKey = 1_000;

/**
 * The value of a text that is JSON, as files are that programs write, by a parser that takes a third of the time of the
 * fast one for YAML. Undefined for everything else.
 */
export function parseJson(text: string): ParsedText | undefined {
  if (!text.startsWith('{') || unusual.test(text)) return undefined;
  try {
    // It refuses what is there twice.
    const document = parseStrictJson(Buffer.from(text, 'latin1'));
    for (let at = 0; at < document.count; at += 1) {
      if (document.isKey(at) && document.end(at) - document.start(at) > longestKey) return undefined;
    }
    return { value: JSON.parse(text), root: partAt(document, document.root), faults: [] };
  } catch {
    return undefined; // the other parsers say what is wrong
  }
}

function partAt(document: JsonDocument, entry: number): Part {
  const kind = document.kind(entry);
  const [start, end] = [document.start(entry), document.end(entry)];
  if (kind === kinds.string) return { start: start - 1, end: end + 1, text: document.text(entry) };
  if (kind !== kinds.object && kind !== kinds.array) return { start, end, text: document.raw(entry) };
  let entries: Entries | undefined;
  return {
    start,
    end,
    entries() {
      entries ??= entriesOf(childrenOf(document, entry), kind === kinds.array);
      return entries;
    },
  };
}

function childrenOf(document: JsonDocument, container: number): readonly Entry[] {
  const isObject = document.kind(container) === kinds.object;
  const children: Entry[] = [];
  for (let at = container + 1; at < document.next(container); at = document.next(at)) {
    const key = isObject ? partAt(document, at) : undefined;
    if (isObject) at += 1;
    children.push({ key, value: partAt(document, at) });
  }
  return children;
}
