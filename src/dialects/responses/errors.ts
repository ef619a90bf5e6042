import type { ProviderFailure } from '../conversation.ts';
import type { SseEvent } from '../sse.ts';
import { openAiErrorBody } from '../translation/openai.ts';

const finalTypes = ['invalid_request_error', 'permission_error', 'authentication_error', 'not_found_error'];

/** Codex retries on `server_error` and on every code it does not know, and stops at `invalid_prompt`. */
export function responsesErrorCode({ type, code }: ProviderFailure): string {
  if (code === 'context_length_exceeded' || code === 'insufficient_quota') return code;
  if (type === 'rate_limit_error') return 'rate_limit_exceeded';
  return finalTypes.includes(type) ? 'invalid_prompt' : 'server_error';
}

/** The SDKs of OpenAI raise an exception for this event; the older of them only if it has a member `error`. */
export function responsesErrorEvent(failure: ProviderFailure, sequence: number): SseEvent {
  const { error, ...request } = openAiErrorBody(failure);
  const code = failure.requestId === undefined ? responsesErrorCode(failure) : failure.code;
  const event = {
    type: 'error',
    sequence_number: sequence,
    code,
    message: failure.message,
    param: failure.param ?? null,
    error: { ...error, code },
    ...request,
  };
  return { name: 'error', data: JSON.stringify(event) };
}
