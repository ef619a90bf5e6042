import { type Dialect, memberAt, requestsIn } from '../../dialects/dialect.ts';
import { exactInteger } from '../../json/exact-integer.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { lettersOf, settingsIn } from './settings.ts';

/** A field that bounds the answer's length. */
export interface Cap {
  readonly entry: number;
  /** Infinity if it is not a whole number from 1: some hosts take 0 for none, and what can't be read bounds nothing. */
  readonly tokens: number;
  /** A field of the dialect, which every host obeys; others may be ignored, so alone they bound nothing. */
  readonly isOwn: boolean;
}

// Hosts' spellings, reduced to letters: max_tokens, maxOutputTokens, options.num_predict …
export const capSpellings: ReadonlySet<string> = new Set([
  'maxtokens',
  'maxcompletiontokens',
  'maxoutputtokens',
  'maxnewtokens',
  'maxtokenstosample',
  'maxgeneratedtokens',
  'numpredict',
  'npredict',
]);

/**
 * Every cap of a request, in any spelling, wherever settings are (`settingsIn`). Tools that ask a model have a cap of their
 * own.
 */
export function findCaps(document: JsonDocument, dialect: Dialect): readonly Cap[] {
  const caps: Cap[] = [];
  for (const request of requestsIn(document, dialect)) {
    for (const [name, place] of dialect.places) {
      const tools = place === 'tool_definition' ? document.member(request, name) : undefined;
      if (tools !== undefined) collectFromTools(document, tools, caps);
    }
  }
  for (const key of settingsIn(document, dialect)) addCap(document, key, caps);
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
  if (!(isKnown || capSpellings.has(lettersOf(document.text(key)))) || document.kind(entry) === kinds.null)
    return;
  caps.push({ entry, tokens: tokensOf(document, entry), isOwn: false });
}

function tokensOf(document: JsonDocument, entry: number): number {
  if (document.kind(entry) !== kinds.number) return Number.POSITIVE_INFINITY;
  const tokens = exactInteger(document.raw(entry));
  return tokens === undefined || tokens < 1 ? Number.POSITIVE_INFINITY : tokens;
}
