import { type Fields, isFields, toCount, toKnownCount } from '../fields.ts';
import { toTokens, type Usage } from '../usage.ts';

/**
 * `promptTokenCount` has what was cached in it and not what the provider's tools added; `candidatesTokenCount` is without
 * the thoughts. A stream repeats the counts with every event, as far as they are known by then.
 */
export function parseGeminiUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const tokens = toTokens({
    input: sum(usage.promptTokenCount, usage.toolUsePromptTokenCount),
    output: sum(usage.candidatesTokenCount, usage.thoughtsTokenCount),
    total: usage.totalTokenCount,
  });
  if (tokens === undefined) return undefined;
  return {
    cacheReadTokens: toCount(usage.cachedContentTokenCount),
    cacheWriteTokens: 0,
    reasoningTokens: toCount(usage.thoughtsTokenCount),
    ...tokens,
  };
}

function sum(one: unknown, other: unknown): number | undefined {
  const counts = [toKnownCount(one), toKnownCount(other)].filter((count) => count !== undefined);
  return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
}

export function buildGeminiUsage(usage: Usage): Fields {
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = usage;
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: Math.max(0, outputTokens - reasoningTokens),
    totalTokenCount: inputTokens + outputTokens,
    ...(cacheReadTokens > 0 ? { cachedContentTokenCount: cacheReadTokens } : {}),
    ...(reasoningTokens > 0 ? { thoughtsTokenCount: reasoningTokens } : {}),
  };
}
