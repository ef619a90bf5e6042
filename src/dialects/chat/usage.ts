import { type Fields, isFields, toCount, toFields } from '../fields.ts';
import { toTokens, type Usage } from '../usage.ts';

export function parseChatUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const tokens = toTokens({
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    total: usage.total_tokens,
  });
  if (tokens === undefined) return undefined;
  const input = toFields(usage.prompt_tokens_details);
  const output = toFields(usage.completion_tokens_details);
  return {
    cacheReadTokens: toCount(input.cached_tokens),
    cacheWriteTokens: toCount(input.cache_write_tokens),
    reasoningTokens: toCount(output.reasoning_tokens),
    ...tokens,
  };
}

export function buildChatUsage(usage: Usage): Fields {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
