import type { RateLimit } from '../dialect.ts';

/** OpenAI's rate-limit headers, for `Dialect.limitHeaders`: `x-ratelimit-*`, with the time until the reset. */
export function openAiLimitHeaders({ unit, max, remaining, resetMs }: RateLimit): readonly string[] {
  return [
    `x-ratelimit-limit-${unit}`,
    String(max),
    `x-ratelimit-remaining-${unit}`,
    String(remaining),
    `x-ratelimit-reset-${unit}`,
    `${Math.ceil(resetMs / 1_000)}s`,
  ];
}
