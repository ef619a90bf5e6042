import { asRecord, count, type Dialect, type Usage } from '../dialect.ts';
import { errorValue } from '../error-value.ts';

/** OpenAI's Responses API. */
export const responses: Dialect = {
  path: '/v1/responses',
  canStream: true,
  caps: ['max_output_tokens'],
  required: [],
  places: new Map([
    ['instructions', 'system'],
    ['input', 'turns'],
    ['tools', 'tool_definition'],
  ]),

  turnRole(document, turn) {
    const type = document.memberText(turn, 'type');
    if (type?.endsWith('_output')) return 'tool_result';
    switch (document.memberText(turn, 'role')) {
      case 'system':
      case 'developer':
        return 'system';
      case 'user':
        return 'user';
      case 'assistant':
        return 'assistant';
      default:
        return type?.endsWith('_call') || type === 'reasoning' ? 'assistant' : undefined;
    }
  },
  blockRole: () => undefined,

  answerUsage: (answer) => toUsage(asRecord(answer).usage),
  eventUsage: (event, known) => toUsage(asRecord(asRecord(event).response).usage) ?? known,
  isLastEvent: (head) =>
    /^(?:event: ?|data: ?\{"type": ?")(?:response\.(?:completed|incomplete|failed)|error)(?:"|$)/m.test(head),
  // For hosts that put the type behind other fields and send no event line.
  mayEndAfter: (event) => /"type": ?"response\.(?:completed|incomplete|failed)"/.test(event),
  errorEvent: (error, requestId, sequence) => {
    const { type, reason, message, code, param } = errorValue(error).error;
    const event = {
      type: 'error',
      code,
      message,
      param,
      sequence_number: sequence,
      error: { type, reason, message, code, param },
      request_id: requestId,
    };
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
  },
};

function toUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const usage = asRecord(value);
  const input = asRecord(usage.input_tokens_details);
  return {
    inputTokens: count(usage.input_tokens),
    outputTokens: count(usage.output_tokens),
    cacheReadTokens: count(input.cached_tokens),
    cacheWriteTokens: count(input.cache_write_tokens),
    reasoningTokens: count(asRecord(usage.output_tokens_details).reasoning_tokens),
  };
}
