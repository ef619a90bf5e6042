import type { Usage } from '../dialects/usage.ts';

/** US$ per million tokens, as providers publish their prices. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** For writes that are kept for longer than the shortest time; by default as the others. */
  readonly longCacheWrite?: number;
  /** US$ for a thousand searches of the web by the provider. */
  readonly searches?: number;
  /** Prices for the whole request if its input is longer than a threshold in tokens. */
  readonly longPrompt?: Price & { readonly aboveTokens: number };
}

// US$ per million tokens is thousands of nano US$ per token.
const nanoUsdPerToken = 1_000;
const nanoUsdPerSearch = 1_000_000;
export const nanoUsdPerUsd = 1_000_000_000;

/** What an exchange cost, in whole nano US$. */
export function costOf(usage: Usage, price: Price): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, longCacheWriteTokens = 0 } = usage;
  const { longPrompt, longCacheWrite = price.cacheWrite, searches = 0 } = price;
  if (longPrompt !== undefined && inputTokens > longPrompt.aboveTokens) {
    return costOf(usage, { ...longPrompt, searches });
  }
  const freshTokens = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const usd =
    freshTokens * price.input +
    cacheReadTokens * price.cacheRead +
    cacheWriteTokens * price.cacheWrite +
    Math.min(longCacheWriteTokens, cacheWriteTokens) * (longCacheWrite - price.cacheWrite) +
    outputTokens * price.output;
  return Math.ceil(usd * nanoUsdPerToken + (usage.searches ?? 0) * searches * nanoUsdPerSearch);
}

/** The most that this many tokens can cost: all input at the price of its most expensive kind. */
export function worstCostOf(
  tokens: { readonly input: number; readonly output: number; readonly searches?: number },
  price: Price,
): number {
  const { longPrompt, longCacheWrite = 0, searches = 0 } = price;
  if (longPrompt !== undefined && tokens.input > longPrompt.aboveTokens) {
    return worstCostOf(tokens, { ...longPrompt, searches });
  }
  const input = Math.max(price.input, price.cacheWrite, longCacheWrite, price.cacheRead);
  const usd = tokens.input * input + tokens.output * price.output;
  return Math.ceil(usd * nanoUsdPerToken + (tokens.searches ?? 0) * searches * nanoUsdPerSearch);
}

/** What a token read from a cache costs of one that is not, where no price says. */
const usualShare = 0.1;

/** Input and output tokens, those read from a cache by their price: agents send a whole conversation again each turn. */
export function newTokensOf(
  { inputTokens, outputTokens, cacheReadTokens }: Usage,
  price: Price | undefined,
): number {
  const share =
    price === undefined || price.input === 0 ? usualShare : Math.min(1, price.cacheRead / price.input);
  const cached = Math.min(cacheReadTokens, inputTokens);
  return inputTokens - cached + Math.ceil(cached * share) + outputTokens;
}
