import { type Fields, toCount, toFields, toKnownCount, toList } from '../fields.ts';
import { parseOpenAiUsage } from '../translation/openai.ts';
import type { Usage } from '../usage.ts';

/** Calls that the client runs, or that cost tokens alone; searches of the web have a price. */
const pricedCalls: ReadonlySet<string> = new Set([
  ...['function_call', 'custom_tool_call', 'computer_call', 'local_shell_call', 'apply_patch_call'],
  ...['tool_search_call', 'mcp_call', 'web_search_call'],
]);

/**
 * The usage of a response, with the searches of the web that it lists. A call of another tool that the provider runs, such
 * as a search of files, has no known price; without a list, no offered tool was used.
 */
export function parseResponseUsage(response: Fields): Usage | undefined {
  const usage = parseResponsesUsage(response);
  if (usage === undefined) return undefined;
  const items = toList(response.output).map((item) => String(toFields(item).type));
  const reported = toKnownCount(toFields(toFields(response.tool_usage).web_search).num_requests);
  const searches = reported ?? items.filter((type) => type === 'web_search_call').length;
  const unpriced = items.find((type) => type.endsWith('_call') && !pricedCalls.has(type));
  const surcharge = usage.surcharge ?? unpriced;
  const hasTools = unpriced === undefined && items.length > 0;
  return {
    ...usage,
    ...(searches > 0 && { searches }),
    ...(surcharge !== undefined && { surcharge }),
    ...(hasTools && { plainModes: [...(usage.plainModes ?? []), 'tools'] }),
  };
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
