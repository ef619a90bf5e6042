import type { FinishReason } from '../conversation.ts';
import { type Fields, toText } from '../fields.ts';

/** Some hosts send `stop` although there are calls, or nothing at all. */
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

/** vLLM puts the matching stop sequence next to the reason. */
export function parseStopSequence(choice: Fields): string | undefined {
  return choice.finish_reason === 'stop' ? toText(choice.stop_reason) || undefined : undefined;
}

export const finishReasons = {
  stop: 'stop',
  sequence: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filter: 'content_filter',
} satisfies Record<FinishReason, string>;

/** Ends streams whose host leaves `[DONE]` out. */
export const hasFinishReason = /"finish_reason": ?"[^"]/;
