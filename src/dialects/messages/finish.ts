import type { FinishReason } from '../conversation.ts';

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

// Clients read `stop_sequence` beside that reason, so it is only sent where it is known which one matched.
const stopReasons = {
  stop: 'end_turn',
  sequence: 'end_turn',
  length: 'max_tokens',
  calls: 'tool_use',
  filter: 'refusal',
} satisfies Record<FinishReason, string>;
