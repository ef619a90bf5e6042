import { asRecord, count, type Dialect, type Usage } from '../dialect.ts';
import { errorValue } from '../error-value.ts';

/** OpenAI's Chat Completions API. */
export const chat: Dialect = {
  path: '/v1/chat/completions',
  canStream: true,
  caps: ['max_tokens', 'max_completion_tokens'],
  required: ['messages'],
  places: new Map([
    ['messages', 'turns'],
    ['tools', 'tool_definition'],
    ['functions', 'tool_definition'],
  ]),

  turnRole(document, turn) {
    switch (document.memberText(turn, 'role')) {
      case 'system':
      case 'developer':
        return 'system';
      case 'user':
        return 'user';
      case 'assistant':
        return 'assistant';
      case 'tool':
      case 'function':
        return 'tool_result';
      default:
        return undefined;
    }
  },
  blockRole: () => undefined,

  answerUsage: (answer) => chatUsage(asRecord(answer).usage),
  eventUsage: (event, known) => chatUsage(asRecord(event).usage) ?? known,
  // Some hosts say with every chunk that there is no error, and no reason yet.
  isLastEvent: (head) => /^data: ?(?:\[DONE\]|\{"error"(?!: ?null))/m.test(head),
  // Some leave [DONE] out; a finish reason says as much.
  mayEndAfter: (event) => /"finish_reason": ?"[^"]/.test(event),
  errorEvent: (error, requestId) =>
    `data: ${JSON.stringify({ ...errorValue(error), request_id: requestId })}\n\n`,
};

/** Usage as chat completions and embeddings write it. */
export function chatUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const usage = asRecord(value);
  const input = asRecord(usage.prompt_tokens_details);
  return {
    inputTokens: count(usage.prompt_tokens),
    outputTokens: count(usage.completion_tokens),
    cacheReadTokens: count(input.cached_tokens),
    cacheWriteTokens: count(input.cache_write_tokens),
    reasoningTokens: count(asRecord(usage.completion_tokens_details).reasoning_tokens),
  };
}
