import type { FinishReason, FullUsage } from '../conversation.ts';
import { type Fields, toCount, toFields } from '../translation/fields.ts';

export function parseResponsesUsage(usage: Fields): FullUsage {
  const input = toFields(usage.input_tokens_details);
  const output = toFields(usage.output_tokens_details);
  return {
    inputTokens: toCount(usage.input_tokens),
    outputTokens: toCount(usage.output_tokens),
    cacheReadTokens: toCount(input.cached_tokens),
    cacheWriteTokens: toCount(input.cache_write_tokens),
    reasoningTokens: toCount(output.reasoning_tokens),
  };
}

/** Both details objects are required by the SDK's types. */
export function buildResponsesUsage(usage: FullUsage): Fields {
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

export function parseResponsesFinish(response: Fields, hasCalls: boolean): FinishReason {
  if (response.status === 'incomplete') {
    return toFields(response.incomplete_details).reason === 'content_filter' ? 'filter' : 'length';
  }
  return hasCalls ? 'calls' : 'stop';
}

interface Status {
  readonly status: 'completed' | 'incomplete';
  readonly incomplete_details: { readonly reason: string } | null;
}

export function buildStatus(finish: FinishReason): Status {
  if (finish === 'length')
    return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  if (finish === 'filter') return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  return { status: 'completed', incomplete_details: null };
}
