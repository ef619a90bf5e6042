import type { Fields } from '../fields.ts';
import { parseOpenAiUsage } from '../translation/openai.ts';
import type { Usage } from '../usage.ts';

export function parseChatUsage(usage: unknown): Usage | undefined {
  return parseOpenAiUsage(usage, { input: 'prompt_tokens', output: 'completion_tokens' });
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
