import { asRecord, count, type Dialect, type Usage } from '../dialect.ts';
import { errorValue } from '../error-value.ts';

/** Anthropic's Messages API, version 2023-06-01. */
export const messages: Dialect = {
  path: '/v1/messages',
  canStream: true,
  caps: ['max_tokens'],
  required: ['messages'],
  places: new Map([
    ['system', 'system'],
    ['messages', 'turns'],
    ['tools', 'tool_definition'],
  ]),

  turnRole(document, turn) {
    const role = document.memberText(turn, 'role');
    return role === 'user' || role === 'assistant' || role === 'system' ? role : undefined;
  },
  blockRole: (type) => (type.endsWith('tool_result') ? 'tool_result' : undefined),

  answerUsage: (answer) => toUsage(asRecord(answer).usage, undefined),
  // message_start has the input's tokens, message_delta the output's; what comes later overwrites.
  eventUsage: (event, known) =>
    toUsage(asRecord(asRecord(event).message).usage ?? asRecord(event).usage, known),
  isLastEvent: (head) =>
    /^(?:event: ?(?:message_stop|error)$|data: ?\{"type": ?"(?:message_stop|error)")/m.test(head),
  // For hosts that put the type behind other fields and send no event line.
  mayEndAfter: (event) => /"type": ?"message_stop"/.test(event),
  errorEvent: (error, requestId) =>
    `event: error\ndata: ${JSON.stringify({ ...errorValue(error), request_id: requestId })}\n\n`,
};

function toUsage(value: unknown, known: Usage | undefined): Usage | undefined {
  if (typeof value !== 'object' || value === null) return known;
  const usage = asRecord(value);
  const isCounted = usage.input_tokens !== undefined && usage.input_tokens !== null;
  const cacheReadTokens = count(usage.cache_read_input_tokens);
  const cacheWriteTokens = count(usage.cache_creation_input_tokens);
  return {
    ...(isCounted
      ? {
          // Anthropic counts cached tokens beside the input's, not within them.
          inputTokens: count(usage.input_tokens) + cacheReadTokens + cacheWriteTokens,
          cacheReadTokens,
          cacheWriteTokens,
        }
      : { inputTokens: 0, ...known }),
    outputTokens: usage.output_tokens === undefined ? (known?.outputTokens ?? 0) : count(usage.output_tokens),
  };
}
