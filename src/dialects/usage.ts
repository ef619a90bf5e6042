import { type Fields, toCount, toFields, toKnownCount } from './fields.ts';

// What an answer used: as its provider reports it, or else estimated from its texts.

/** Tokens of one exchange. `inputTokens` counts cached ones too, in every dialect. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Those of the cache's writes that are kept for longer: an hour (Anthropic) or twelve (OpenAI). */
  readonly longCacheWriteTokens?: number;
  readonly reasoningTokens: number;
  /** Searches of the web by the provider, which it charges for one by one. */
  readonly searches?: number;
  /** What the answer names of how it was processed, or used, that costs other than the known prices: a member's name. */
  readonly surcharge?: string;
  /** Modes that were the usual ones according to the answer, regardless of the request. */
  readonly plainModes?: readonly string[];
  /** The answer's part of these tokens, where the provider also ran passes of its own, which it reports beside it. */
  readonly answer?: Usage;
  /** The provider has not said how much input or output it was; what is unknown is 0 here. */
  readonly isPartial?: true;
  /** The provider sent no count; this one was estimated from the length of texts. */
  readonly isEstimated?: true;
}

/** What is known of the tokens of an answer, whole or as far as it came. */
export interface Tally {
  readonly usage: Usage | undefined;
  /** The most tokens that the texts which no usage covers are likely to be. */
  readonly unreportedTokens: number;
}

/** Adds up what a stream's events say, one after the other. */
export class StreamTally implements Tally {
  usage: Usage | undefined;
  unreportedTokens = 0;

  addText(tokens: number): void {
    this.unreportedTokens += tokens;
  }

  /** It covers all texts so far if it says more than the one before: hosts also repeat a usage, or send one of zeros. */
  report(usage: Usage | undefined): void {
    const before = this.usage;
    this.usage = usage;
    if (usage === undefined || usage.outputTokens === 0) return;
    const isFirstFull = before?.isPartial === true && usage.isPartial !== true;
    if (isFirstFull || usage.outputTokens > (before?.outputTokens ?? 0)) this.unreportedTokens = 0;
  }
}

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/**
 * The counts that decide about the cost, as a provider reports them; undefined if it reports neither. What is no count was
 * not reported. Some hosts count reasoning in the total only, so the output is what the total has beyond the input.
 */
export function toTokens(reported: {
  readonly input: unknown;
  readonly output: unknown;
  readonly total: unknown;
}): Pick<Usage, 'inputTokens' | 'outputTokens' | 'isPartial'> | undefined {
  const input = toKnownCount(reported.input);
  const output = toKnownCount(reported.output);
  const total = toKnownCount(reported.total);
  if (input === undefined && output === undefined) return undefined;
  const inputTokens = input ?? Math.max(0, (total ?? 0) - (output ?? 0));
  const outputTokens = Math.max(output ?? 0, (total ?? 0) - inputTokens);
  const isPartial = total === undefined && (input === undefined || output === undefined);
  return { inputTokens, outputTokens, ...(isPartial && { isPartial }) };
}

/** What was written to caches, listed by how long it is kept, as Anthropic and DashScope do. Tokens. */
export function toCacheWrites(lives: unknown): { readonly all: number; readonly long: number | undefined } {
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = toFields(lives);
  return { all: toCount(short) + toCount(long), long: toKnownCount(long) };
}

/** Usage with the names that records and scripts see. */
export type UsageFields = ReturnType<typeof toUsageFields>;

export function toUsageFields(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
    ...(usage.isEstimated === true && { estimated: true }),
  };
}

/** Members of answers and usages that say how a request was processed: the mode, and what of it the known prices are for. */
const modes: readonly (readonly [member: string, mode: string, plain: ReadonlySet<string>])[] = [
  ['service_tier', 'service_tier', new Set(['default', 'standard', 'auto', 'on_demand'])],
  ['serviceTier', 'service_tier', new Set(['standard', 'unspecified'])],
  ['speed', 'speed', new Set(['standard'])],
  ['inference_geo', 'inference_geo', new Set(['global', 'not_available'])],
  ['trafficType', 'trafficType', new Set(['on_demand', 'traffic_type_unspecified'])],
];

const nothingSaid: Pick<Usage, 'surcharge' | 'plainModes'> = {};

/** What an answer or its usage says about how it was processed; `other` is what else costs more. */
export function toModes(holder: Fields, other?: string | undefined): Pick<Usage, 'surcharge' | 'plainModes'> {
  let surcharge = other;
  let plainModes: string[] | undefined;
  for (const [member, mode, plain] of modes) {
    const value = holder[member];
    if (typeof value !== 'string') continue;
    if (!plain.has(value.toLowerCase())) surcharge ??= member;
    else if (plainModes === undefined) plainModes = [mode];
    else plainModes.push(mode);
  }
  if (surcharge === undefined && plainModes === undefined) return nothingSaid;
  return { ...(surcharge !== undefined && { surcharge }), ...(plainModes !== undefined && { plainModes }) };
}

// ---------------------------------------------------------------- estimates, where no usage is reported

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;
const colon = 0x3a;
const comma = 0x2c;

/** Members whose texts the model did not write, or that repeat what another member says. */
const labels = new Set([
  ...['type', 'id', 'role', 'status', 'object', 'call_id', 'token'],
  ...['finish_reason', 'stop_reason', 'stop_sequence'],
  ...['finishReason', 'thoughtSignature', 'mimeType'],
]);

/**
 * The most tokens that the texts in some members of a JSON text are likely to be: one for three bytes of ASCII, and one
 * for each byte beyond, as for a request (docs/decisions/budgets.md). `json` is UTF-8 read as Latin-1, whole or cut
 * anywhere; `members` matches the name of a member and what precedes its value, and has the flag `g`.
 */
export function countTextTokens(json: string, members: RegExp): number {
  let tokens = 0;
  members.lastIndex = 0;
  while (members.test(json)) {
    const value = readValue(json, members.lastIndex);
    tokens += Math.ceil(value.thirds / 3);
    members.lastIndex = value.end;
  }
  return tokens;
}

/** The members with these names, for `countTextTokens`. */
export function membersNamed(...names: readonly string[]): RegExp {
  return new RegExp(`"(?:${names.join('|')})"\\s*:`, 'g');
}

/** The texts of one value, in thirds of a token, and where it ends. */
function readValue(json: string, start: number): { readonly thirds: number; readonly end: number } {
  let thirds = 0;
  let depth = 0;
  let isLabelled = false;
  for (let at = start; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      const text = readText(json, at + 1);
      if (isKey(json, text.end)) isLabelled = labels.has(json.slice(at + 1, text.end));
      else if (!isLabelled) thirds += text.thirds;
      at = text.end;
      if (depth === 0) return { thirds, end: at };
    } else if (code === comma) {
      isLabelled = false;
      if (depth === 0) return { thirds, end: at };
    } else if (isOpening(code)) {
      depth += 1;
    } else if (isClosing(code)) {
      depth -= 1;
      if (depth <= 0) return { thirds, end: at };
    }
  }
  return { thirds, end: json.length };
}

/** From after the opening quote to the closing one, or to where the JSON is cut. */
function readText(json: string, start: number): { readonly thirds: number; readonly end: number } {
  let thirds = 0;
  let at = start;
  for (; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) break;
    if (code === backslash) {
      const isLong = json.charCodeAt(at + 1) === letterU;
      // Six bytes that are up to three in UTF-8; the others are one.
      thirds += isLong ? 9 : 1;
      at += isLong ? 5 : 1;
    } else {
      thirds += code < 0x80 ? 1 : 3;
    }
  }
  return { thirds, end: Math.min(at, json.length) };
}

function isKey(json: string, closingQuote: number): boolean {
  let at = closingQuote + 1;
  while (json.charCodeAt(at) <= 0x20) at += 1;
  return json.charCodeAt(at) === colon;
}

function isOpening(code: number): boolean {
  return code === 0x7b || code === 0x5b;
}

function isClosing(code: number): boolean {
  return code === 0x7d || code === 0x5d;
}
