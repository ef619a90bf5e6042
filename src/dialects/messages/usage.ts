import { type Fields, isFields, toCount, toFields } from '../fields.ts';
import { noUsage, type Usage } from '../usage.ts';

/**
 * Usage as Messages counts it: cached tokens beside the input's, not within them. Counts are cumulative over a
 * stream: what is there replaces what was known, what is missing or null does not.
 */
export function parseMessagesUsage(value: unknown, known?: Usage): Usage | undefined {
  if (!isFields(value)) return known;
  const before = known ?? noUsage;
  const uncached = before.inputTokens - before.cacheReadTokens - before.cacheWriteTokens;
  const cacheReadTokens = latest(value.cache_read_input_tokens, before.cacheReadTokens);
  const cacheWriteTokens = latest(value.cache_creation_input_tokens, before.cacheWriteTokens);
  const cacheWriteHourTokens = latest(
    toFields(value.cache_creation).ephemeral_1h_input_tokens,
    before.cacheWriteHourTokens ?? 0,
  );
  return {
    inputTokens: latest(value.input_tokens, uncached) + cacheReadTokens + cacheWriteTokens,
    outputTokens: latest(value.output_tokens, before.outputTokens),
    cacheReadTokens,
    cacheWriteTokens,
    ...(cacheWriteHourTokens > 0 && { cacheWriteHourTokens }),
    reasoningTokens: latest(toFields(value.output_tokens_details).thinking_tokens, before.reasoningTokens),
  };
}

function latest(value: unknown, known: number): number {
  return value === undefined || value === null ? known : toCount(value);
}

export function buildMessagesUsage(usage: Usage): Fields {
  const uncached = usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens;
  return {
    input_tokens: Math.max(0, uncached),
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    ...(usage.reasoningTokens > 0
      ? { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }
      : {}),
  };
}
