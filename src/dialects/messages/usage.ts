import type { FinishReason, FullUsage } from '../conversation.ts';
import { type Fields, toCount, toFields } from '../translation/fields.ts';

/** FullUsage as Messages counts it: the cached tokens beside the input tokens, not inside. */
export function parseMessagesUsage(usage: Fields): FullUsage {
  const cacheReadTokens = toCount(usage.cache_read_input_tokens);
  const cacheWriteTokens = toCount(usage.cache_creation_input_tokens);
  return {
    inputTokens: toCount(usage.input_tokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: toCount(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: toCount(toFields(usage.output_tokens_details).thinking_tokens),
  };
}

export function buildMessagesUsage(usage: FullUsage): Fields {
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

export function parseStopReason(reason: unknown): FinishReason {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'tool_use':
      return 'calls';
    case 'refusal':
      return 'filter';
    case 'stop_sequence':
      return 'sequence';
    default:
      return 'stop';
  }
}

interface Stop {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
}

export function buildStop(finish: FinishReason, stopSequence: string | undefined): Stop {
  if (finish === 'sequence' && stopSequence !== undefined) {
    return { stop_reason: 'stop_sequence', stop_sequence: stopSequence };
  }
  return { stop_reason: stopReasons[finish], stop_sequence: null };
}

// Clients read `stop_sequence` beside that reason, so it is only given where the provider names the sequence.
const stopReasons = {
  stop: 'end_turn',
  sequence: 'end_turn',
  length: 'max_tokens',
  calls: 'tool_use',
  filter: 'refusal',
} satisfies Record<FinishReason, string>;
