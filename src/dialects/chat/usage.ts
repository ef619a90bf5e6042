import type { FinishReason, FullUsage } from '../conversation.ts';
import { type Fields, toCount, toFields, toText } from '../translation/fields.ts';

export function parseChatUsage(usage: Fields): FullUsage {
  const input = toFields(usage.prompt_tokens_details);
  const output = toFields(usage.completion_tokens_details);
  return {
    inputTokens: toCount(usage.prompt_tokens),
    outputTokens: toCount(usage.completion_tokens),
    cacheReadTokens: toCount(input.cached_tokens),
    cacheWriteTokens: toCount(input.cache_write_tokens),
    reasoningTokens: toCount(output.reasoning_tokens),
  };
}

export function buildChatUsage(usage: FullUsage): Fields {
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

/** vLLM names the stop sequence that matched beside the reason. */
export function parseStopSequence(choice: Fields): string | undefined {
  return choice.finish_reason === 'stop' ? toText(choice.stop_reason) || undefined : undefined;
}

/** Hosts say `stop` although there are calls, or nothing at all. */
export function parseFinish(reason: unknown, hasCalls: boolean): FinishReason {
  switch (reason) {
    case 'length':
      return 'length';
    case 'content_filter':
      return 'filter';
    case 'tool_calls':
    case 'function_call':
      return 'calls';
    default:
      return hasCalls ? 'calls' : 'stop';
  }
}

export const chatFinish = {
  stop: 'stop',
  sequence: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filter: 'content_filter',
} satisfies Record<FinishReason, string>;
