import type { ProviderFailure } from '../conversation.ts';
import { type Fields, toFields } from '../fields.ts';
import type { SseEvent } from '../sse.ts';

/** Google's status words and codes, by Anthropic's names for failures. */
const statuses: Readonly<Record<string, readonly [code: number, status: string]>> = {
  invalid_request_error: [400, 'INVALID_ARGUMENT'],
  request_too_large: [400, 'INVALID_ARGUMENT'],
  authentication_error: [401, 'UNAUTHENTICATED'],
  billing_error: [403, 'PERMISSION_DENIED'],
  permission_error: [403, 'PERMISSION_DENIED'],
  not_found_error: [404, 'NOT_FOUND'],
  conflict_error: [409, 'ABORTED'],
  rate_limit_error: [429, 'RESOURCE_EXHAUSTED'],
  overloaded_error: [503, 'UNAVAILABLE'],
  timeout_error: [504, 'DEADLINE_EXCEEDED'],
};

/** `{error: {code, message, status}}`. */
export function isGeminiErrorBody(body: unknown): boolean {
  const error = toFields(toFields(body).error);
  return typeof error.message === 'string' && typeof error.code === 'number';
}

/** With the gateway's reason and id as `google.rpc.ErrorInfo`, where Google's own are. */
export function geminiErrorBody({ type, message, code, param, status, requestId }: ProviderFailure): Fields {
  const [usual, word] = statuses[type] ?? [500, 'INTERNAL'];
  const metadata = {
    ...(param === undefined ? {} : { param }),
    ...(requestId === undefined ? {} : { request_id: requestId }),
  };
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: code,
    domain: 'gateway',
    metadata,
  };
  const details = code === undefined ? {} : { details: [info] };
  return { error: { code: status ?? usual, message, status: word, ...details } };
}

/** A bare JSON object, as Google writes it into a stream: of any other form its SDKs make no error. */
export function geminiErrorEvent(failure: ProviderFailure): SseEvent {
  return { name: '', data: JSON.stringify(geminiErrorBody(failure)) };
}
