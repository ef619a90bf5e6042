import { type Dialect, fieldsWith, memberAt, requestsIn } from '../../dialects/dialect.ts';
import { exactInteger, type JsonDocument, kinds } from '../../json/json-document.ts';
import { memoize } from '../../lib/memoize.ts';
import { answerSchemas } from './reading-order.ts';

/** What holds a client's own data or the schema of its answer, in any host's words. */
const dataMembers = new Set([
  ...answerSchemas,
  ...['metadata', 'client_metadata', 'labels', 'variables'],
  ...['format', 'json_schema', 'structured_outputs', 'guided_json'],
  ...['_responseJsonSchema', '_response_json_schema'],
  // In any other schema.
  ...['properties', '$defs'],
]);

/** A name without case and separators: hosts spell the same setting `max_tokens`, `maxTokens` or `MAX_TOKENS`. */
const lettersOf = memoize((name) => name.toLowerCase().replace(/[^a-z]/g, ''));

/**
 * Visits the keys of everything in a request, however deep, but for the conversation, the tools, the client's own data and
 * the schema of the answer, in which names are only names. What it finds is in `found`, so that it needs no closure.
 */
function visitSettings<Found>(
  document: JsonDocument,
  dialect: Dialect,
  visit: (document: JsonDocument, key: number, found: Found) => void,
  found: Found,
): void {
  for (const request of requestsIn(document, dialect)) {
    const end = document.next(request);
    for (let key = request + 1; key < end; key = document.next(key + 1)) {
      const name = document.text(key);
      if (dialect.places.has(name) || dataMembers.has(name)) continue;
      visit(document, key, found);
      visitInside(document, key + 1, visit, found);
    }
  }
}

function visitInside<Found>(
  document: JsonDocument,
  value: number,
  visit: (document: JsonDocument, key: number, found: Found) => void,
  found: Found,
): void {
  const end = document.next(value);
  for (let key = document.nextKey(value); key < end; ) {
    const isData = dataMembers.has(document.text(key));
    if (!isData) visit(document, key, found);
    key = document.nextKey(isData ? document.next(key + 1) : key + 1);
  }
}

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
 * Every cap of a request, in any spelling, wherever settings are (`visitSettings`). Tools that ask a model have a cap of their
 * own.
 */
export function findCaps(document: JsonDocument, dialect: Dialect): readonly Cap[] {
  const caps: FoundCap[] = [];
  for (const request of requestsIn(document, dialect)) {
    for (const name of fieldsWith(dialect, 'tool_definition')) {
      const tools = document.member(request, name);
      if (tools !== undefined) collectFromTools(document, tools, caps);
    }
  }
  visitSettings(document, dialect, addIfCap, caps);
  for (const path of dialect.caps) {
    const entry = memberAt(document, path);
    if (entry !== undefined) addOwn(document, entry, caps);
  }
  return caps;
}

type FoundCap = { -readonly [Name in keyof Cap]: Cap[Name] };

function collectFromTools(document: JsonDocument, tools: number, caps: FoundCap[]): void {
  for (const tool of document.elements(tools)) {
    if (document.kind(tool) !== kinds.object) continue;
    for (let key = tool + 1; key < document.next(tool); key = document.next(key + 1))
      addIfCap(document, key, caps);
  }
}

function addIfCap(document: JsonDocument, key: number, caps: FoundCap[]): void {
  if (capSpellings.has(lettersOf(document.text(key)))) addCap(document, key + 1, caps);
}

/** A dialect may have a word of its own for it. */
function addOwn(document: JsonDocument, entry: number, caps: FoundCap[]): void {
  if (!caps.some((cap) => cap.entry === entry)) addCap(document, entry, caps);
  for (const cap of caps) if (cap.entry === entry) cap.isOwn = true;
}

function addCap(document: JsonDocument, entry: number, caps: FoundCap[]): void {
  if (document.kind(entry) === kinds.null) return;
  caps.push({ entry, tokens: tokensOf(document, entry), isOwn: false });
}

function tokensOf(document: JsonDocument, entry: number): number {
  if (document.kind(entry) !== kinds.number) return Number.POSITIVE_INFINITY;
  const tokens = exactInteger(document.raw(entry));
  return tokens === undefined || tokens < 1 ? Number.POSITIVE_INFINITY : tokens;
}

// Reduced to letters: reasoning_effort, enable_thinking, chat_template_kwargs.thinking, thinkingConfig.thinking_budget …
const reasoningSpellings = new Set([
  'thinking',
  'think',
  'reasoning',
  'enablethinking',
  'thinkingbudget',
  'thinkinglevel',
  'reasoningeffort',
]);
/** What says it inside such a member: `thinking.type`, `reasoning.max_tokens`. */
const insideReasoning = new Set(['type', 'effort', 'enabled', 'maxtokens', 'budgettokens']);

const noReasoning = new Set(['none', 'disabled', 'off', 'false', '0']);

/** Whether a request asks to reason, in any host's words for it; undefined if it says nothing of it. */
export function asksToReason(document: JsonDocument, dialect: Dialect): boolean | undefined {
  const said: Asked = { asks: undefined };
  visitSettings(document, dialect, noteReasoning, said);
  return said.asks;
}

interface Asked {
  asks: boolean | undefined;
}

function noteReasoning(document: JsonDocument, key: number, said: Asked): void {
  if (said.asks === true || !reasoningSpellings.has(lettersOf(document.text(key)))) return;
  const asksHere = askedBy(document, key + 1);
  said.asks = asksHere === true ? true : (said.asks ?? asksHere);
}

function askedBy(document: JsonDocument, entry: number): boolean | undefined {
  switch (document.kind(entry)) {
    case kinds.object:
      return askedInside(document, entry);
    case kinds.null:
      return undefined;
    case kinds.false:
      return false;
    case kinds.number:
      return document.number(entry) !== 0;
    case kinds.string:
      return document.text(entry) === '' ? undefined : !noReasoning.has(document.text(entry).toLowerCase());
    default:
      return true;
  }
}

/** A budget beside `type: disabled` counts: which of them a host obeys is not known. */
function askedInside(document: JsonDocument, object: number): boolean | undefined {
  let asked: boolean | undefined;
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) {
    const isObject = document.kind(key + 1) === kinds.object;
    if (isObject || !insideReasoning.has(lettersOf(document.text(key)))) continue;
    const asksHere = askedBy(document, key + 1);
    if (asksHere === true) return true;
    asked ??= asksHere;
  }
  return asked;
}
