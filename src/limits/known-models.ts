import { memoize } from '../memoize.ts';
import known from './known-models.json' with { type: 'json' };
import type { Price } from './price.ts';

/** What is known about a model without any configuration. */
export interface KnownModel {
  readonly price: Price;
  readonly maxOutputTokens: number;
  /** Whether it may reason although a request says nothing about it. */
  readonly reasonsUnasked: boolean;
  /** The most input tokens that one image can be, however large. */
  readonly imageTokens: number;
}

/**
 * A line of `known-models.json`, whose prices `models[].pricing` in the configuration overrides. Cache writes are priced
 * for the shortest retention (Anthropic: five minutes, OpenAI: thirty); Anthropic's for an hour cost twice the input. Not
 * there, because it depends on more than tokens or could not be found: OpenAI's cache for twelve hours, batches, fast
 * modes, images, audio, and tools other than a search of the web (US$ 10 for a thousand at both).
 */
interface Line extends Omit<Price, 'longCacheWrite' | 'searches' | 'longPrompt'> {
  readonly name: string;
  readonly maxOutputTokens: number;
  /** The dates of versions that cost the same; others may cost more, such as gpt-4o-2024-05-13. */
  readonly versions?: readonly string[];
  /** Above this many input tokens the whole request costs this many times as much, by kind of token. */
  readonly long?: { readonly aboveTokens: number; readonly input: number; readonly output: number };
  readonly note?: string;
}

const lines: readonly Line[] = known.models;

/** From Claude 5 and GPT-5 on, models reason unless they are told not to. */
const withoutReasoning = /^(?:claude-[a-z]+-4|gpt-4|text-)/;

/** Qwen's models count up to so many, GPT-6's of photographs at least 14,364. */
const unknownImageTokens = 16_384;

/**
 * From what vendors say of sizes: a patch of 28 pixels a token up to 2,576 by 1,456 (Claude); base and eight tiles (gpt-4o);
 * 1,536 patches of 32 pixels, times up to 2.46 (the rest, of which some count fewer).
 */
const imageTokens: readonly (readonly [RegExp, number])[] = [
  [/^claude-/, 4_784],
  [/^gpt-4o-mini/, 2_833 + 8 * 5_667],
  [/^(?:gpt-4|gpt-5(?:-|$)|o\d)/, 3_779],
];

export const knownModels: ReadonlyMap<string, KnownModel> = new Map(
  lines.map((line) => [line.name, toModel(line)]),
);

/** The listed name of each dated one. */
const listedNames: ReadonlyMap<string, string> = new Map(
  lines.flatMap(({ name, versions = [] }) => versions.map((date) => [`${name}-${date}`, name] as const)),
);

function toModel({ name, input, output, cacheRead, cacheWrite, maxOutputTokens, long }: Line): KnownModel {
  const times = (inputs: number, outputs: number): Price => ({
    input: input * inputs,
    output: output * outputs,
    cacheRead: cacheRead * inputs,
    cacheWrite: cacheWrite * inputs,
    ...(name.startsWith('claude-') && { longCacheWrite: 2 * input * inputs }),
  });
  const longPrompt = long && { aboveTokens: long.aboveTokens, ...times(long.input, long.output) };
  return {
    price: { ...times(1, 1), searches: 10, ...(longPrompt && { longPrompt }) },
    maxOutputTokens,
    reasonsUnasked: !withoutReasoning.test(name),
    imageTokens: imageTokens.find(([names]) => names.test(name))?.[1] ?? unknownImageTokens,
  };
}

// `openai/gpt-5.5`, `anthropic.claude-…`, `us.anthropic.claude-…`
const vendorPrefix = /^(?:openai|anthropic)\/|^(?:[a-z]+\.)?anthropic\./;
// What Bedrock adds: `-v1`, `-v1:0`.
const bedrockVersion = /-v\d+(?::\d+)?$/;

/** The name that a known model is listed by. */
export function knownModelName(name: string): string | undefined {
  const plain = name.replace(vendorPrefix, '').replace(bedrockVersion, '').replace('@', '-');
  return [name, plain, listedNames.get(plain) ?? ''].find((candidate) => knownModels.has(candidate));
}

/** By its exact name, without vendor prefixes, or by the date of a version that is listed; never by part of the name. */
export function knownModel(name: string): KnownModel | undefined {
  return knownModels.get(listedName(name));
}

/** The most input tokens that one image can be. */
export function imageTokensOf(name: string): number {
  return knownModel(name)?.imageTokens ?? unknownImageTokens;
}

const listedName = memoize((name) => knownModelName(name) ?? '');
