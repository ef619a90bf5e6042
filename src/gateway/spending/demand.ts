import { type Dialect, memberAt } from '../../dialects/dialect.ts';
import { dialects } from '../../dialects/registry.ts';
import { defaultCap } from '../../dialects/translation/context.ts';
import { maxThinkingBudget, thinkingControl } from '../../hosts/models.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { memoize } from '../../lib/memoize.ts';
import { dataMembers, fileTypes, imageTypes } from '../../policy/traverse/attachments.ts';
import { asksToReason, findCaps } from '../../policy/traverse/settings.ts';
import { isTopReference, unseenBlock } from '../../policy/traverse/unseen.ts';
import { worstInputTokens } from '../../policy/traverse/worst-input.ts';
import type { Target } from '../../providers/route.ts';
import { dialectAtTarget, type ModelEndpoint } from '../endpoints.ts';

/** Members of a request that choose how it is processed, and what of that costs no more than the known prices. */
const plainTiers: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'standard', 'standard_only']);
const plainModes: readonly (readonly [string, ReadonlySet<string>])[] = Object.entries({
  service_tier: plainTiers,
  serviceTier: plainTiers,
  speed: new Set(['standard']),
  inference_geo: new Set(['global']),
  // Audio, and searches that hosts charge for without a tool.
  audio: new Set(),
  web_search_options: new Set(),
  search_parameters: new Set(),
  plugins: new Set(),
  // Tokens that the request doesn't have, and an hourly price for keeping them.
  cachedContent: new Set(),
  cached_content: new Set<string>(),
});

/** Of a request, and of any of its texts and images. */
const cacheMembers = ['prompt_cache_options', 'prompt_cache_breakpoint'];
const plainLifetimes: ReadonlySet<string> = new Set(['30m']);
const plainModalities: ReadonlySet<string> = new Set(['text', 'TEXT', 'MODALITY_UNSPECIFIED']);
/** In Google's API under the settings, each in both spellings. */
const modalityPaths = [
  'modalities',
  ...['generationConfig', 'generation_config'].flatMap((settings) =>
    ['responseModalities', 'response_modalities'].map((name) => `${settings}.${name}`),
  ),
];
const typeMembers = ['mimeType', 'mime_type'];
/** Files that a request only names, so that its bytes say nothing about their tokens. */
const fileMembers = ['fileUri', 'file_uri'];
const pricedParts = ['input_audio', 'audio_url', 'input_video', 'video_url'];
/** Lengths of the keys, besides `type`, that matter inside a request; an escaped key is longer than its text. */
const lengthsInside = new Set([...cacheMembers, ...typeMembers, ...fileMembers].map(({ length }) => length));

/** The member of a request that makes it cost more than the known prices; undefined if none does. */
export function findSurchargedMode(document: JsonDocument): string | undefined {
  const mode = plainModes.find(([name, plain]) =>
    isOther(document, document.member(document.root, name), plain),
  );
  return mode?.[0] ?? findModality(document) ?? findInside(document);
}

/** Processing that answers name too, under the names that they have for it. */
const answerNames: Readonly<Record<string, string>> = { serviceTier: 'service_tier' };

/**
 * What a request asks for that costs other than the known prices, by the names that answers have for it: modes, and
 * the provider's own `tools`, which the answer may report as unused.
 */
export function findAskedModes(document: JsonDocument): readonly string[] {
  const found = plainModes.filter(([name, plain]) => {
    const entry = document.member(document.root, name);
    return (
      isOther(document, entry, plain) ||
      (entry !== undefined && document.memberText(document.root, name) === 'flex')
    );
  });
  const modality = findModality(document);
  return [
    ...found.map(([name]) => answerNames[name] ?? name),
    ...(modality === undefined ? [] : [modality]),
    ...(findToolFees(document).unpriced === undefined ? [] : ['tools']),
  ];
}

function isOther(document: JsonDocument, entry: number | undefined, plain: ReadonlySet<string>): boolean {
  if (entry === undefined || document.kind(entry) === kinds.null) return false;
  return document.kind(entry) !== kinds.string || !plain.has(document.text(entry));
}

/** Whether an answer may be more than text; Google takes one for a list of it. */
function findModality(document: JsonDocument): string | undefined {
  return modalityPaths.find((path) => {
    const asked = memberAt(document, path);
    if (asked === undefined) return false;
    if (document.kind(asked) !== kinds.array) return isOther(document, asked, plainModalities);
    return [...document.elements(asked)].some((each) => isOther(document, each, plainModalities));
  });
}

/**
 * Anywhere in a request: what asks OpenAI to keep what is written to the cache for twelve hours, and audio or video, whose
 * tokens have prices of their own, or a file that is elsewhere.
 */
function findInside(document: JsonDocument): string | undefined {
  for (let entry = document.nextKey(0); entry < document.count; entry = document.nextKey(entry + 1)) {
    // Compared in place: every block of a body has a type.
    if (document.isText(entry, 'type')) {
      const dear = pricedParts.find((each) => document.isText(entry + 1, each));
      if (dear !== undefined) return dear;
      continue;
    }
    const length = document.end(entry) - document.start(entry);
    if (!lengthsInside.has(length) && !document.isEscaped(entry)) continue;
    const name = document.text(entry);
    if (cacheMembers.includes(name)) {
      if (isOther(document, document.member(entry + 1, 'ttl'), plainLifetimes)) return `${name}.ttl`;
    } else if (typeMembers.includes(name) && isAudio(document, entry + 1)) return 'audio';
    else if (fileMembers.includes(name)) return name;
  }
  return undefined;
}

function isAudio(document: JsonDocument, entry: number): boolean {
  return document.kind(entry) === kinds.string && /^audio\//i.test(document.text(entry));
}

/** What the tools of a request that its provider runs can cost beyond tokens. */
interface ToolFees {
  /** The most searches of the web; where nothing bounds them, more than an answer usually takes. */
  readonly searches: number;
  /** The type of a tool whose fee is not known. */
  readonly unpriced: string | undefined;
}

const unboundedSearches = 20;

/** Run by the client, or by the provider without a fee beyond tokens; a tool without a type is the client's. */
const freeTypes =
  /^(?:function|custom|namespace|mcp|mcp_toolset|apply_patch|local_shell|computer\w*|(?:bash|text_editor|memory|web_fetch|tool_search\w*)_\d{8}|tool_search)$/;
const searchTypes = /^web_search(?:_\d{8}|_\d{4}_\d{2}_\d{2})?$/;

/** The same as members of a tool without a name, in Google's API; running code and reading a URL cost tokens only. */
const searchMembers = /^google_?search(?:_?retrieval)?$/i;
const freeMembers =
  /^(?:function_?declarations|code_?execution|url_?context|computer_?use|mcp_?servers|cache_?control)$/i;
const feeOf = memoize((name) =>
  searchMembers.test(name) ? 'searches' : freeMembers.test(name) ? 'none' : 'unpriced',
);

/** What providers charge for the tools that they run themselves. */
function findToolFees(document: JsonDocument): ToolFees {
  const list = document.member(document.root, 'tools');
  let searches = 0;
  let unpriced: string | undefined;
  if (list === undefined) return { searches, unpriced };
  // Google takes one tool for a list of it.
  const tools = document.kind(list) === kinds.object ? [list] : document.elements(list);
  for (const tool of tools) {
    if (document.kind(tool) !== kinds.object) continue;
    const type = document.memberText(tool, 'type');
    if (type !== undefined) {
      if (freeTypes.test(type)) continue;
      if (searchTypes.test(type)) searches += countAt(document, tool, 'max_uses') ?? unboundedSearches;
      else unpriced ??= type;
    } else if (document.member(tool, 'name') === undefined) {
      for (let key = tool + 1; key < document.next(tool); key = document.next(key + 1)) {
        if (document.kind(key + 1) === kinds.null) continue;
        const name = document.text(key);
        const fee = feeOf(name);
        if (fee === 'searches') searches += unboundedSearches;
        else if (fee === 'unpriced') unpriced ??= name;
      }
    }
  }
  return {
    searches: Math.min(searches, countAt(document, document.root, 'max_tool_calls') ?? searches),
    unpriced,
  };
}

function countAt(document: JsonDocument, object: number, name: string): number | undefined {
  const entry = document.member(object, name);
  const count =
    entry === undefined || document.kind(entry) !== kinds.number ? Number.NaN : document.number(entry);
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** What a request says about how much its answer may cost, as plain data: the document is not needed for it again. */
export interface Demand {
  /** The most input tokens that it is likely to be counted as. */
  readonly inputTokens: number;
  /** What it only names, which is not among those tokens: the model must have room for it. */
  readonly remote: RemoteContent;
  readonly output: OutputCap;
  readonly fees: ToolFees;
  /** The member that makes it cost more than the known prices. */
  readonly surcharge: string | undefined;
  /** Undefined if it says nothing of it. */
  readonly asksToReason: boolean | undefined;
}

/** All of it: most exchanges report what they used, and need none. */
export function findDemand(document: JsonDocument, endpoint: ModelEndpoint): Demand {
  return {
    inputTokens: worstInputTokens(document),
    remote: findRemoteContent(document),
    output: findOutputCap(document, endpoint),
    fees: findToolFees(document),
    surcharge: findSurchargedMode(document),
    asksToReason: asksToReason(document, endpoint.dialect),
  };
}

// What a request only names, by an address or an id, so that its bytes say nothing about its tokens.

/** Where dialects say which image or file it is: at once, or in an object. */
const members = ['image_url', 'source', 'url', 'file', 'file_id', 'file_url'];
/** What a request only names. */
interface RemoteContent {
  /** There is a most that each can count as. */
  readonly images: number;
  /** Anything else: files, caches, earlier answers and conversations that the provider keeps. */
  readonly hasOther: boolean;
}

/** Looks at every object that the provider reads as a part of the request, wherever it is. */
export function findRemoteContent(document: JsonDocument): RemoteContent {
  const { root } = document;
  let images = 0;
  let hasOther = namesKept(document);
  const data = new Set(document.elements(document.member(root, 'tools') ?? root));
  data.add(document.member(root, 'metadata') ?? -1);
  const next = (entry: number) => document.nextOfKind(entry, kinds.object);
  for (let block = next(0); block < document.count; ) {
    if (data.has(block)) {
      block = next(document.next(block));
      continue;
    }
    const type = document.memberText(block, 'type') ?? '';
    const isImage = imageTypes.has(type);
    if (isImage && isNamed(document, block)) images += 1;
    hasOther ||= fileTypes.has(type) && isNamed(document, block);
    for (let key = block + 1; key < document.next(block); key = document.next(key + 1)) {
      const isObject = document.kind(key + 1) === kinds.object;
      if (isObject && block !== root && dataMembers.has(document.text(key))) data.add(key + 1);
      else if (!hasOther && mayNameContent(document, key)) {
        const name = document.text(key);
        hasOther = !(isImage && name === 'image_url') && namesContent(document, name, key + 1);
      }
    }
    block = next(block + 1);
  }
  return { images, hasOther };
}

/** Whether it goes on from what the provider keeps. */
function namesKept(document: JsonDocument): boolean {
  const { root } = document;
  if (['cachedContent', 'cached_content', 'previous_response_id'].some((name) => isSet(document, root, name)))
    return true;
  const isKept = ['conversation', 'prompt', 'thread', 'preset'].some((name) => {
    const value = document.member(root, name);
    return value !== undefined && isTopReference(document, name, value);
  });
  return isKept || hasBareItem(document, document.member(root, 'input'));
}

/** Most keys are distinguished from the names in `namesContent` by their last letter, without being decoded. */
function mayNameContent(document: JsonDocument, key: number): boolean {
  const last = document.bytes[document.end(key) - 1];
  return last === 0x6c /* l */ || last === 0x61 /* a */ || document.isEscaped(key);
}

/** Whether a member is content that is elsewhere, by the names that hosts of all dialects have for it. */
function namesContent(document: JsonDocument, name: string, value: number): boolean {
  if (name === 'fileData' || name === 'file_data')
    return (
      document.kind(value) === kinds.object || isAddress(document, value, /^(?!data:)[a-z][a-z\d+.-]*:/i)
    );
  if (!name.endsWith('_url') || name === 'server_url') return false;
  const url = document.kind(value) === kinds.object ? document.member(value, 'url') : value;
  return url !== undefined && isAddress(document, url);
}

function isAddress(document: JsonDocument, entry: number, address = /^(?!data:)/i): boolean {
  if (document.kind(entry) !== kinds.string) return false;
  if (document.isEscaped(entry)) return address.test(document.text(entry));
  const start = document.start(entry);
  return address.test(document.bytes.toString('latin1', start, Math.min(document.end(entry), start + 32)));
}

/** An item of Responses that consists only of its id. */
function hasBareItem(document: JsonDocument, list: number | undefined): boolean {
  if (list === undefined || document.kind(list) !== kinds.array) return false;
  for (let item = list + 1; item < document.next(list); item = document.next(item)) {
    if (document.kind(item) !== kinds.object) continue;
    const type = document.memberText(item, 'type');
    if (unseenBlock(document, item, { type, hasId: true }) === 'reference') return true;
  }
  return false;
}

/** `levels` is how many objects deep an address may be: one more than in any dialect. */
function isNamed(document: JsonDocument, object: number, levels = 3): boolean {
  return members.some((name) => {
    const entry = document.member(object, name);
    if (entry === undefined) return false;
    if (document.kind(entry) !== kinds.object) return isAddress(document, entry);
    return levels > 1 && isNamed(document, entry, levels - 1);
  });
}

function isSet(document: JsonDocument, object: number, name: string): boolean {
  const entry = document.member(object, name);
  return entry !== undefined && document.kind(entry) !== kinds.null;
}

/** Output tokens assumed if neither the client, the configuration nor what is known of the model sets a bound. */
const unboundedTokens = 32_768;

/** How much a request lets its targets write. */
export interface OutputCap {
  /** The largest cap in tokens; 0 if there is none. */
  readonly tokens: number;
  /** Whether no answer can be longer than that. */
  readonly isBounding: boolean;
  /** Whether the request has any, valid or not. */
  readonly isSet: boolean;
  /** How many answers the client asks for. */
  readonly answers: number;
}

function findOutputCap(document: JsonDocument, { dialect }: ModelEndpoint): OutputCap {
  const caps = findCaps(document, dialect);
  const readable = caps.map(({ tokens }) => tokens).filter(Number.isFinite);
  return {
    tokens: readable.reduce((most, tokens) => Math.max(most, tokens), 0),
    isBounding: readable.length === caps.length && caps.some(({ isOwn }) => isOwn),
    isSet: caps.length > 0,
    answers: answersOf(document, dialect),
  };
}

/** What bounds an answer: the request, and what the entry of the requested model says. */
interface Bounds {
  readonly endpoint: ModelEndpoint;
  readonly cap: OutputCap;
  readonly maxOutputTokens: number | undefined;
  /** Whether what the entry says holds for the target's model. */
  readonly isOwn: boolean;
}

/** The most output tokens that a target can write. */
export function maxOutputAt(target: Target, bounds: Bounds): number {
  const { endpoint, cap } = bounds;
  if (endpoint.dialect.caps.length === 0) return 0;
  const least = cap.isBounding ? minCapAt(target, endpoint) : maxUnbounded(target, bounds);
  return Math.max(cap.tokens + raiseAt(target, endpoint), least) * cap.answers;
}

/** By how much a translation may raise a cap, for thinking that is part of it. */
function raiseAt(target: Target, endpoint: ModelEndpoint): number {
  const dialect = dialectAtTarget(target, endpoint);
  if (dialect === undefined || dialect === endpoint.dialectName || !dialects[dialect].needsCap) return 0;
  return thinkingControl({ host: target.provider.host, targetModel: target.model }) === 'budget'
    ? maxThinkingBudget
    : 0;
}

/** A translation raises smaller caps to this one. */
function minCapAt(target: Target, endpoint: ModelEndpoint): number {
  const dialect = dialectAtTarget(target, endpoint);
  return dialect === undefined || dialect === endpoint.dialectName ? 0 : (dialects[dialect].minCap ?? 0);
}

function maxUnbounded(
  { provider, known: listed }: Target,
  { endpoint, cap, maxOutputTokens, isOwn }: Bounds,
): number {
  const known = listed?.maxOutputTokens ?? unboundedTokens;
  // Where the dialect needs a cap, this one is sent (`buildBody`).
  if (provider.options.dialect === 'anthropic' && !cap.isSet) {
    return maxOutputTokens ?? (endpoint.dialect.needsCap ? defaultCap : known);
  }
  return isOwn ? (maxOutputTokens ?? known) : known;
}

/** How many answers the request asks for; some hosts also take a text for a number. */
export function answersOf(document: JsonDocument, { answerCounts = ['n'] }: Dialect): number {
  return answerCounts.reduce((most, path) => {
    const entry = memberAt(document, path);
    if (entry === undefined) return most;
    const count =
      document.kind(entry) === kinds.string ? Number(document.text(entry)) : document.number(entry);
    return Number.isFinite(count) && count > most ? Math.ceil(count) : most;
  }, 1);
}

/**
 * Whether an answer may have tokens that no text shows: most models that reason show a summary of it or nothing. A
 * request decides it for all models, otherwise what is known of the model, and an unknown model may.
 */
export function mayReason(isAsked: boolean | undefined, { provider, known }: Target): boolean {
  if (provider.options.dialect === 'sandbox') return false;
  return isAsked ?? known?.reasonsUnasked ?? true;
}
