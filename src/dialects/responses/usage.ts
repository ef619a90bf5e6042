import { type Fields, isFields, toCount, toFields, toKnownCount, toList } from '../fields.ts';
import { toTokens, type Usage } from '../usage.ts';

/** The usage of a response, with the searches of the web that it lists. */
export function parseResponseUsage(response: Fields): Usage | undefined {
  const usage = parseResponsesUsage(response.usage);
  const reported = toKnownCount(toFields(toFields(response.tool_usage).web_search).num_requests);
  const isSearch = (item: unknown) => toFields(item).type === 'web_search_call';
  const searches = reported ?? toList(response.output).filter(isSearch).length;
  return usage && searches > 0 ? { ...usage, searches } : usage;
}

export function parseResponsesUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const tokens = toTokens({
    input: usage.input_tokens,
    output: usage.output_tokens,
    total: usage.total_tokens,
  });
  if (tokens === undefined) return undefined;
  const input = toFields(usage.input_tokens_details);
  const output = toFields(usage.output_tokens_details);
  const longCacheWriteTokens = toCount(toFields(input.cache_write_tokens_details).ttl_12h_tokens);
  return {
    cacheReadTokens: toCount(input.cached_tokens),
    cacheWriteTokens: toCount(input.cache_write_tokens),
    reasoningTokens: toCount(output.reasoning_tokens),
    ...tokens,
    ...(longCacheWriteTokens > 0 && { longCacheWriteTokens }),
  };
}

/** Both details objects are required by the SDK's types. */
export function buildResponsesUsage(usage: Usage): Fields {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
