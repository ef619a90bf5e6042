import { type Fields, isFields, toFields, toKnownCount } from '../fields.ts';
import { noUsage, type Usage } from '../usage.ts';

/**
 * Usage as Messages counts it: cached tokens beside the input's, not within them. Counts are cumulative over a
 * stream: what is there replaces what was known, what is missing or no count does not.
 */
export function parseMessagesUsage(value: unknown, known?: Usage): Usage | undefined {
  if (!isFields(value)) return known;
  const [input, output] = [toKnownCount(value.input_tokens), toKnownCount(value.output_tokens)];
  if (known === undefined && input === undefined && output === undefined) return undefined;
  const before = known ?? noUsage;
  const uncached = before.inputTokens - before.cacheReadTokens - before.cacheWriteTokens;
  const cacheReadTokens = latest(value.cache_read_input_tokens, before.cacheReadTokens);
  const cacheWriteTokens = latest(value.cache_creation_input_tokens, before.cacheWriteTokens);
  const cacheWriteHourTokens = latest(
    toFields(value.cache_creation).ephemeral_1h_input_tokens,
    before.cacheWriteHourTokens ?? 0,
  );
  const inputTokens = (input ?? uncached) + cacheReadTokens + cacheWriteTokens;
  const isPartial = output === undefined || (input === undefined && inputTokens === 0);
  return {
    inputTokens,
    outputTokens: output ?? before.outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    ...(cacheWriteHourTokens > 0 && { cacheWriteHourTokens }),
    reasoningTokens: latest(toFields(value.output_tokens_details).thinking_tokens, before.reasoningTokens),
    ...(isPartial && { isPartial }),
  };
}

/** Of an event: the first has the input's usage and not yet the output's, the last the output's. */
export function parseMessagesEventUsage({ message, usage }: Fields, known?: Usage): Usage | undefined {
  const start = parseMessagesUsage(toFields(message).usage);
  return start === undefined ? parseMessagesUsage(usage, known) : { ...start, isPartial: true };
}

function latest(value: unknown, known: number): number {
  return toKnownCount(value) ?? known;
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
