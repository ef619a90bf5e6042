import type { Dialect } from '../../dialects/dialect.ts';
import { exactInteger } from '../../json/exact-integer.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { memoize } from '../../memoize.ts';

/** A field that bounds the answer's length. */
export interface Cap {
  readonly entry: number;
  /** Infinity if it is not a whole number from 0: what can't be read bounds nothing. */
  readonly tokens: number;
}

// Hosts' spellings, reduced to letters: max_tokens, maxOutputTokens, options.num_predict …
const spellings = new Set([
  'maxtokens',
  'maxcompletiontokens',
  'maxoutputtokens',
  'maxnewtokens',
  'maxtokenstosample',
  'maxgeneratedtokens',
  'numpredict',
  'npredict',
]);

const isCap = memoize((name) => spellings.has(name.toLowerCase().replace(/[^a-z]/g, '')));

/**
 * Every cap of a request, in any spelling and at any depth outside the conversation and the tool definitions, where such
 * a name is just data.
 */
export function findCaps(document: JsonDocument, dialect: Dialect): readonly Cap[] {
  const caps: Cap[] = [];
  const { root } = document;
  for (let key = root + 1; key < document.next(root); key = document.next(key + 1)) {
    if (dialect.places.has(document.text(key))) continue;
    collect(document, key, caps);
  }
  return caps;
}

function collect(document: JsonDocument, key: number, caps: Cap[]): void {
  const value = key + 1;
  if (isCap(document.text(key)) && document.kind(value) !== kinds.null) {
    caps.push({ entry: value, tokens: tokensOf(document, value) });
  }
  collectInside(document, value, caps);
}

function collectInside(document: JsonDocument, container: number, caps: Cap[]): void {
  const kind = document.kind(container);
  if (kind === kinds.object) {
    for (let key = container + 1; key < document.next(container); key = document.next(key + 1)) {
      collect(document, key, caps);
    }
  }
  if (kind === kinds.array) {
    for (let at = container + 1; at < document.next(container); at = document.next(at)) {
      collectInside(document, at, caps);
    }
  }
}

function tokensOf(document: JsonDocument, entry: number): number {
  if (document.kind(entry) !== kinds.number) return Number.POSITIVE_INFINITY;
  const tokens = exactInteger(document.raw(entry));
  return tokens === undefined || tokens < 0 ? Number.POSITIVE_INFINITY : tokens;
}
