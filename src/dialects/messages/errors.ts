import type { ProviderFailure } from '../conversation.ts';
import { tooLongCode, tooLongText } from '../failure.ts';
import { type Fields, toFields } from '../fields.ts';
import type { SseEvent } from '../sse.ts';

/** `{type: "error", error: {type, message}}`: of anything else, clients show nothing but the status. */
export function isMessagesErrorBody(body: unknown): boolean {
  const { type, error } = toFields(body);
  const inner = toFields(error);
  return type === 'error' && typeof inner.type === 'string' && typeof inner.message === 'string';
}

export function messagesErrorBody(failure: ProviderFailure): Fields {
  const { type, code, param, requestId } = failure;
  const isOwn = requestId !== undefined;
  const error = {
    type,
    message: toMessage(failure),
    ...(isOwn ? { reason: code } : {}),
    code: code ?? null,
    param: param ?? null,
  };
  return { type: 'error', error, ...(isOwn ? { request_id: requestId } : {}) };
}

export function messagesErrorEvent(failure: ProviderFailure): SseEvent {
  return { name: 'error', data: JSON.stringify(messagesErrorBody(failure)) };
}

// Claude Code compacts its history when it reads these words.
function toMessage({ code, message }: ProviderFailure): string {
  if (code !== tooLongCode || message.toLowerCase().includes(tooLongText)) return message;
  return `${tooLongText}: ${message}`;
}
