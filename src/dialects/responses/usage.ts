import { type Fields, toCount, toFields, toKnownCount, toList } from '../fields.ts';
import { parseOpenAiUsage } from '../translation/openai.ts';
import type { Usage } from '../usage.ts';

/** The usage of a response, with the searches of the web that it lists. */
export function parseResponseUsage(response: Fields): Usage | undefined {
  const usage = parseResponsesUsage(response);
  const reported = toKnownCount(toFields(toFields(response.tool_usage).web_search).num_requests);
  const isSearch = (item: unknown) => toFields(item).type === 'web_search_call';
  const searches = reported ?? toList(response.output).filter(isSearch).length;
  return usage && searches > 0 ? { ...usage, searches } : usage;
}

export function parseResponsesUsage(response: Fields): Usage | undefined {
  const { usage } = response;
  const counts = parseOpenAiUsage(usage, { input: 'input_tokens', output: 'output_tokens' }, response);
  const { cache_write_tokens_details: writes } = toFields(toFields(usage).input_tokens_details);
  const longCacheWriteTokens = toCount(toFields(writes).ttl_12h_tokens);
  return counts && longCacheWriteTokens > 0 ? { ...counts, longCacheWriteTokens } : counts;
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
