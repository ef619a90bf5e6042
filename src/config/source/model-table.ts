import { isFields, toFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import { parseStrictJson } from '../../json/strict-json.ts';

/** US$ per million tokens, in the words of `models[].pricing`. */
export interface TablePrice {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly cache_write_1h?: number;
}

/** What a table says of a model. */
export interface TableLine extends TablePrice {
  /** What the whole request costs if its input is longer than that. */
  readonly long_prompt?: TablePrice & { readonly above_tokens: number };
  readonly context_window?: number;
  readonly max_output_tokens?: number;
}

/** Models by their exact names, as `gateway models update` keeps them; plain data. */
export interface ModelTable {
  /** Where it came from: a file or a URL. */
  readonly source: string;
  /** The day on which it was taken over, as 2026-11-29, in UTC. */
  readonly retrieved: string;
  readonly models: Readonly<Record<string, TableLine>>;
}

/** What a file holds, and which of its models were left out, and why. */
export interface ReadTable {
  readonly models: Readonly<Record<string, TableLine>>;
  readonly rejected: readonly { readonly name: string; readonly why: string }[];
}

/** Above every price that a vendor asks; what is higher was written in another unit. */
const maxUsd = 5_000;
const maxTokens = 1_000_000_000;
const priceNames = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const;

/**
 * Reads a table in the gateway's form (`{ models: { NAME: { input, output, … } } }`, US$ per million tokens), or in that of
 * LiteLLM's model_prices_and_context_window.json (US$ per token). A model that makes no sense is left out: without a price
 * its requests are refused under a budget, with a wrong one they would not be. Throws config.invalid for what is no such
 * file at all, also where a name stands in it twice; the message begins with `source`.
 */
export function readModelTable(bytes: Buffer, source: string): ReadTable {
  const whole = parse(bytes, source);
  const isOwn = isFields(whole.models);
  const entries = Object.entries(isOwn ? toFields(whole.models) : whole);
  const models: Record<string, TableLine> = Object.create(null);
  const rejected: { name: string; why: string }[] = [];
  for (const [name, value] of entries) {
    if (!isOwn && !isLiteLlmModel(name, value)) continue;
    const fields = toFields(value);
    // Somebody means a zero that stands in our own form; only embeddings have no output.
    const hasOutput = !isOwn && fields.mode !== 'embedding';
    const line = checked(name, isOwn ? fields : fromLiteLlm(fields), hasOutput);
    if (typeof line === 'string') rejected.push({ name, why: line });
    else models[name] = line;
  }
  if (Object.keys(models).length === 0) {
    const [first] = rejected;
    const expected = 'expected { "models": { NAME: { "input": …, "output": … } } }, or LiteLLM\'s table';
    const why = first === undefined ? expected : `${first.name}: ${first.why}`;
    throw invalid(`${source} has no model with a price: ${why}`);
  }
  return { models, rejected };
}

function parse(bytes: Buffer, source: string): Readonly<Record<string, unknown>> {
  try {
    parseStrictJson(bytes); // which refuses what `JSON.parse` would take the last of
    return toFields(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw invalid(`${source} is not a table of models: ${(cause as Error).message}`, cause); // both throw errors
  }
}

function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError('config.invalid', message, { cause });
}

/** The line, with nothing in it that isn't known; else why it can't be used. With `hasOutput` output must cost something. */
function checked(
  name: string,
  fields: Readonly<Record<string, unknown>>,
  hasOutput: boolean,
): TableLine | string {
  if (!/^[\x21-\x7e]{1,200}$/.test(name)) return 'its name is not 1 to 200 visible ASCII characters';
  const price = checkedPrice(fields, hasOutput);
  if (typeof price === 'string') return price;
  const sizes: Record<string, number> = {};
  for (const size of ['context_window', 'max_output_tokens'] as const) {
    const value = fields[size];
    if (value === undefined) continue;
    if (!isSize(value)) return `${size} is no number of tokens`;
    sizes[size] = value;
  }
  if (fields.long_prompt === undefined) return { ...price, ...sizes };
  const { above_tokens: above, ...long } = toFields(fields.long_prompt);
  const longPrice = checkedPrice(long, hasOutput);
  if (typeof longPrice === 'string') return `long_prompt: ${longPrice}`;
  if (!isSize(above)) return 'long_prompt: above_tokens is no number of tokens';
  return { ...price, ...sizes, long_prompt: { ...longPrice, above_tokens: above } };
}

function checkedPrice(fields: Readonly<Record<string, unknown>>, hasOutput: boolean): TablePrice | string {
  const price: Record<string, number> = {};
  for (const name of priceNames) {
    const usd = fields[name];
    if (usd === undefined && name !== 'input' && name !== 'output') continue;
    if (typeof usd !== 'number' || !Number.isFinite(usd)) return `${name} is missing, or no number`;
    if (usd < 0) return `${name} is negative`;
    if (usd > maxUsd) return `${name} is above US$ ${maxUsd} for a million tokens`;
    price[name] = usd;
  }
  const { input = 0, cache_read: read = 0 } = price;
  if (input === 0) return 'input costs nothing';
  if (hasOutput && price.output === 0) return 'output costs nothing';
  if (read > input) return 'cache_read costs more than input';
  return { ...price, input, output: price.output ?? 0 };
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= maxTokens;
}

/** Whether it is billed by tokens of text; others are not for this gateway, and are passed over. */
function isLiteLlmModel(name: string, value: unknown): boolean {
  const { mode } = toFields(value);
  return name !== 'sample_spec' && /^(?:chat|completion|responses|embedding)$/.test(String(mode));
}

/** Its members in our words and units. The first threshold for long prompts stands for all, with the highest prices. */
function fromLiteLlm(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const thresholds = Object.keys(fields).flatMap((name) => {
    const thousands = /^input_cost_per_token_above_(\d{1,6})k_tokens$/.exec(name)?.[1];
    return thousands === undefined ? [] : [Number(thousands)];
  });
  const above = (name: string) =>
    thresholds.reduce<unknown>((highest, thousands) => {
      const next = fields[`${name}_above_${thousands}k_tokens`] ?? highest;
      return typeof next === 'number' && typeof highest === 'number' ? Math.max(next, highest) : next;
    }, fields[name]);
  const long = { ...pricesBy(above), above_tokens: Math.min(...thresholds) * 1_000 };
  return defined({
    ...pricesBy((name) => fields[name]),
    long_prompt: thresholds.length === 0 ? undefined : defined(long),
    context_window: size(fields.max_input_tokens),
    max_output_tokens: size(fields.max_output_tokens),
  });
}

function pricesBy(costOf: (name: string) => unknown) {
  return {
    input: perMillion(costOf('input_cost_per_token')),
    output: perMillion(costOf('output_cost_per_token')),
    // Zero stands there for what isn't known: without it a cache costs as much as input.
    cache_read: perMillion(costOf('cache_read_input_token_cost')) || undefined,
    cache_write: perMillion(costOf('cache_creation_input_token_cost')) || undefined,
    cache_write_1h: perMillion(costOf('cache_creation_input_token_cost_above_1hr')) || undefined,
  };
}

/** Without what binary fractions add. */
function perMillion(usd: unknown): unknown {
  return typeof usd === 'number' ? Number((usd * 1_000_000).toPrecision(12)) : (usd ?? undefined);
}

/** What is no number there is not known. */
function size(tokens: unknown): unknown {
  return isSize(tokens) ? tokens : undefined;
}

function defined(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
