import type { ModelTable, TableLine, TablePrice } from '../config/source/model-table.ts';
import { memoize } from '../lib/memoize.ts';
import known from './known-models.json' with { type: 'json' };
import type { Price } from './price.ts';

/** What is known about a model without any configuration. */
export interface KnownModel {
  readonly price: Price;
  /** At an endpoint of one region or one geography, of a cloud or the vendor itself. */
  readonly regionalPrice: Price;
  /** What it costs instead until then, in milliseconds since 1970. */
  readonly promotion?: { readonly untilMs: number; readonly price: Price; readonly regionalPrice: Price };
  /** Absent if unknown. */
  readonly maxOutputTokens?: number;
  /** Absent if unknown. OpenAI's newer ones without the room that only output may fill, as Codex counts it. */
  readonly contextWindow?: number;
  /** Whether it may reason although a request says nothing about it. */
  readonly reasonsUnasked: boolean;
  /** The most input tokens that one image can be, however large. */
  readonly imageTokens: number;
}

/**
 * A line of `known-models.json`, whose prices `models[].pricing` in the configuration overrides. Cache writes are priced
 * for the shortest retention (Anthropic: five minutes, OpenAI: thirty); Anthropic's for an hour cost twice the input. Not
 * there, because it depends on more than tokens or could not be found: OpenAI's cache for twelve hours, what Google takes
 * for each hour of a cache, batches, fast modes, images, audio, and tools other than a search of the web. Clouds cost the
 * same as the vendors, except for `regional`; what Azure adds for a data zone, and Google for Gemini in one region, is not
 * known here.
 */
interface Line extends Omit<Price, 'longCacheWrite' | 'longPrompt'> {
  readonly name: string;
  /** Source and date of its price: a name of `sources`. */
  readonly source: string;
  readonly maxOutputTokens: number;
  /** The dates of versions that cost the same; others may cost more, such as gpt-4o-2024-05-13. */
  readonly versions?: readonly string[];
  /** Above this many input tokens the whole request costs this many times as much, by kind of token. */
  readonly long?: { readonly aboveTokens: number; readonly input: number; readonly output: number };
  readonly contextWindow?: number;
  /** How many times as much it costs at an endpoint of one region or one geography; by default once. */
  readonly regional?: number;
  /** How many times as much it costs until the end of a day, in UTC. */
  readonly promotion?: { readonly through: string; readonly times: number };
  readonly note?: string;
}

const lines: readonly Line[] = known.models;

/** From Claude 5 and GPT-5 on, models reason unless a request turns it off. */
const withoutReasoning = /^(?:claude-[a-z]+-4|gpt-4|text-|gemini-2\.5-flash-lite|gemini-embedding)/;

/** Qwen's models count up to this number, GPT-6's of photographs at least 14,364. */
const unknownImageTokens = 16_384;

/**
 * From what vendors say of sizes: a patch of 28 pixels a token up to 2,576 by 1,456 (Claude); base and eight tiles (gpt-4o);
 * 1,536 patches of 32 pixels, times up to 2.46 (the others, some of which count fewer).
 */
const imageTokens: readonly (readonly [RegExp, number])[] = [
  [/^claude-/, 4_784],
  [/^gpt-4o-mini/, 2_833 + 8 * 5_667],
  [/^(?:gpt-4|gpt-5(?:-|$)|o\d)/, 3_779],
];

/** US$ for a thousand searches of the web, unless the line says otherwise. */
const defaultSearches = 10;

const builtIn: ReadonlyMap<string, KnownModel> = new Map(lines.map((line) => [line.name, toModel(line)]));

/** The listed name of each dated one. */
const listedNames: ReadonlyMap<string, string> = new Map(
  lines.flatMap(({ name, versions = [] }) => versions.map((date) => [`${name}-${date}`, name] as const)),
);

function toModel(line: Line): KnownModel {
  const { name, maxOutputTokens, contextWindow, regional = 1, promotion } = line;
  return {
    price: priceOf(line, 1),
    regionalPrice: priceOf(line, regional),
    ...(promotion && {
      promotion: {
        untilMs: Date.parse(`${promotion.through}T24:00:00Z`),
        price: priceOf(line, promotion.times),
        regionalPrice: priceOf(line, promotion.times * regional),
      },
    }),
    maxOutputTokens,
    ...(contextWindow !== undefined && { contextWindow }),
    ...byName(name),
  };
}

/** What follows from a name alone. */
function byName(name: string): Pick<KnownModel, 'reasonsUnasked' | 'imageTokens'> {
  const tokens = imageTokens.find(([names]) => names.test(name))?.[1] ?? unknownImageTokens;
  return { reasonsUnasked: !withoutReasoning.test(name), imageTokens: tokens };
}

/** The day of the latest price that is built in, in UTC. */
export const builtInDate: string = known.date;

/** What an endpoint of a region adds at most, as far as is known. */
const highestRegional = 1.1;

/**
 * A line of a table that the user has taken over. Such tables say neither what an endpoint of a region adds nor what a
 * search costs: these are what is built in for the model, else the highest that are known.
 */
function fromTable(name: string, line: TableLine): KnownModel {
  const { long_prompt: long, context_window: contextWindow, max_output_tokens: maxOutputTokens } = line;
  const before = builtIn.get(name);
  const regional = before === undefined ? highestRegional : before.regionalPrice.input / before.price.input;
  const searches = before?.price.searches ?? defaultSearches;
  const tablePriceAt = (factor: number, each: TablePrice) => tablePrice(each, { name, factor });
  const priceAt = (factor: number): Price => ({
    ...tablePriceAt(factor, line),
    searches,
    ...(long && { longPrompt: { ...tablePriceAt(factor, long), aboveTokens: long.above_tokens } }),
  });
  const most = maxOutputTokens ?? before?.maxOutputTokens;
  const window = contextWindow ?? before?.contextWindow;
  return {
    price: priceAt(1),
    regionalPrice: priceAt(regional),
    ...(most !== undefined && { maxOutputTokens: most }),
    ...(window !== undefined && { contextWindow: window }),
    ...byName(name),
  };
}

function tablePrice(
  line: TablePrice,
  { name, factor }: { readonly name: string; readonly factor: number },
): Price {
  const { input, output, cache_read = input, cache_write = input } = line;
  const { cache_write_1h = /(?:^|\.)claude-/.test(name) ? 2 * input : undefined } = line;
  return {
    input: product(input, factor),
    output: product(output, factor),
    cacheRead: product(cache_read, factor),
    cacheWrite: product(cache_write, factor),
    ...(cache_write_1h !== undefined && { longCacheWrite: product(cache_write_1h, factor) }),
  };
}

function priceOf(line: Line, factor: number): Price {
  const { name, input, output, cacheRead, cacheWrite, long, searches = defaultSearches } = line;
  const times = (inputs: number, outputs: number): Price => ({
    input: product(input, inputs),
    output: product(output, outputs),
    cacheRead: product(cacheRead, inputs),
    cacheWrite: product(cacheWrite, inputs),
    ...(name.startsWith('claude-') && { longCacheWrite: product(2 * input, inputs) }),
  });
  const longPrompt = long && {
    aboveTokens: long.aboveTokens,
    ...times(long.input * factor, long.output * factor),
  };
  return { ...times(factor, factor), searches, ...(longPrompt && { longPrompt }) };
}

/** Without what binary fractions add, which would be rounded up. */
function product(usd: number, times: number): number {
  return Number((usd * times).toPrecision(12));
}

// `openai/gpt-5.5`, `google/gemini-2.5-pro` (Vertex' endpoint of OpenAI's form), `publishers/anthropic/models/claude-…`
const vendorPrefix = /^(?:(?:openai|anthropic|google)\/|(?:publishers\/(?:anthropic|google)\/)?models\/)/;
// What Vertex has behind an `@`: a date, or `default`.
const defaultVersion = /@default$/;
/** An ARN that ends with the name of a model or of one of AWS' own inference profiles; others say nothing of their model. */
const bedrockArn = /^arn:aws:bedrock:[a-z0-9-]*:\d*:(?:inference-profile|foundation-model)\//;
/** `anthropic.claude-…`, `us.anthropic.claude-…`, with or without what Bedrock adds: `-v1`, `-v1:0`. */
const bedrockName = /^(?:(global|us|eu|apac|au|jp)\.)?anthropic\.(.+?)(?:-v\d+(?::\d+)?)?$/;

/** The names that are built in. */
export const knownModelNames: readonly string[] = [...builtIn.keys()];

/** The name that a known model is listed by. */
function nameIn(models: ReadonlyMap<string, KnownModel>, name: string): string | undefined {
  const short = name.replace(bedrockArn, '').replace(vendorPrefix, '');
  const plain = (bedrockName.exec(short)?.[2] ?? short).replace(defaultVersion, '').replace('@', '-');
  return [name, plain, listedNames.get(plain) ?? ''].find((candidate) => models.has(candidate));
}

/** The built-in name of a model. */
export function knownModelName(name: string): string | undefined {
  return nameIn(builtIn, name);
}

/** What is known of a model; undefined for one that isn't listed. */
export type FindKnownModel = (name: string) => KnownModel | undefined;

const finders = new WeakMap<ModelTable, FindKnownModel>();

/**
 * Finds models in a table, and what it does not have among those that are built in: by the exact name, without vendor
 * prefixes, or by the date of a version that is listed; never by part of the name.
 */
export function knownModelFinder(table: ModelTable | undefined): FindKnownModel {
  if (table === undefined) return knownModel;
  const before = finders.get(table);
  if (before !== undefined) return before;
  const added = Object.entries(table.models).map(([name, line]) => [name, fromTable(name, line)] as const);
  const finder = finderIn(new Map([...builtIn, ...added]));
  finders.set(table, finder);
  return finder;
}

function finderIn(models: ReadonlyMap<string, KnownModel>): FindKnownModel {
  const listedName = memoize((name) => nameIn(models, name) ?? '');
  return (name) => models.get(listedName(name));
}

/** What is built in. */
export const knownModel: FindKnownModel = finderIn(builtIn);

/** What is charged for a model at an endpoint of this kind now. Bedrock's names say themselves where a request may go. */
export function listPrice(
  known: KnownModel | undefined,
  {
    name,
    isRegional,
    nowMs,
  }: { readonly name: string; readonly isRegional: boolean; readonly nowMs: number },
): Price | undefined {
  const isSurcharged = isRegional || isRegionalName(name);
  if (known?.promotion !== undefined && nowMs < known.promotion.untilMs)
    return isSurcharged ? known.promotion.regionalPrice : known.promotion.price;
  return isSurcharged ? known?.regionalPrice : known?.price;
}

/** The most input tokens that one image can be, for a model of which nothing else is known. */
export const mostImageTokens = unknownImageTokens;

const isRegionalName = memoize((name) => {
  const found = bedrockName.exec(name.replace(bedrockArn, ''));
  return found !== null && found[1] !== 'global';
});
