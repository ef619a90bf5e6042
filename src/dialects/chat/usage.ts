import { type Fields, toFields, toList } from '../fields.ts';
import { parseOpenAiUsage } from '../translation/openai.ts';
import type { Usage } from '../usage.ts';

/** The usage in an answer or in an event of a stream; Moonshot has that of a stream in the last event's choice. */
export function parseChatUsage(answer: Fields): Usage | undefined {
  const usage = answer.usage ?? toFields(toList(answer.choices)[0]).usage;
  return parseOpenAiUsage(usage, { input: 'prompt_tokens', output: 'completion_tokens' }, answer);
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
