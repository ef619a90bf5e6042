import { type Dialect, memberAt } from '../../dialects/dialect.ts';
import { exactInteger } from '../../json/exact-integer.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { memoize } from '../../lib/memoize.ts';
import { answerSchemas } from './reading-order.ts';

/** A field that bounds the answer's length. */
export interface Cap {
  readonly entry: number;
  /** Infinity if it is not a whole number from 0: what can't be read bounds nothing. */
  readonly tokens: number;
  /** A field of the dialect, which every host obeys; others may be ignored, so alone they bound nothing. */
  readonly isOwn: boolean;
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

const schemas = new Set(answerSchemas);

/**
 * Every cap of a request, in any spelling and at any depth outside the conversation and the schemas of tools and answers,
 * where such a name is just data. Tools that ask a model have a cap of their own.
 */
export function findCaps(document: JsonDocument, dialect: Dialect): readonly Cap[] {
  const caps: Cap[] = [];
  const { root } = document;
  for (let key = root + 1; key < document.next(root); key = document.next(key + 1)) {
    const name = document.text(key);
    const place = dialect.places.get(name);
    if (place === 'tool_definition') collectFromTools(document, key + 1, caps);
    if (place !== undefined && place !== 'request') continue;
    addCap(document, key, caps);
    collectInside(document, key + 1, caps);
  }
  const own = dialect.caps.map((path) => memberAt(document, path));
  // A dialect may have a word of its own for it.
  for (const entry of own) {
    if (entry !== undefined && !caps.some((cap) => cap.entry === entry))
      addCap(document, entry - 1, caps, true);
  }
  return caps.map(({ entry, tokens }) => ({ entry, tokens, isOwn: own.includes(entry) }));
}

function collectFromTools(document: JsonDocument, tools: number, caps: Cap[]): void {
  for (const tool of document.elements(tools)) {
    if (document.kind(tool) !== kinds.object) continue;
    for (let key = tool + 1; key < document.next(tool); key = document.next(key + 1))
      addCap(document, key, caps);
  }
}

function addCap(document: JsonDocument, key: number, caps: Cap[], isKnown = false): void {
  const entry = key + 1;
  if (!(isKnown || isCap(document.text(key))) || document.kind(entry) === kinds.null) return;
  caps.push({ entry, tokens: tokensOf(document, entry), isOwn: false });
}

/** All keys inside a value, however deep, but for the schema of the answer, in which names are only names. */
function collectInside(document: JsonDocument, value: number, caps: Cap[]): void {
  const end = document.next(value);
  for (let key = document.nextKey(value); key < end; ) {
    const isSchema = schemas.has(document.text(key));
    if (!isSchema) addCap(document, key, caps);
    key = document.nextKey(isSchema ? document.next(key + 1) : key + 1);
  }
}

function tokensOf(document: JsonDocument, entry: number): number {
  if (document.kind(entry) !== kinds.number) return Number.POSITIVE_INFINITY;
  const tokens = exactInteger(document.raw(entry));
  return tokens === undefined || tokens < 0 ? Number.POSITIVE_INFINITY : tokens;
}
