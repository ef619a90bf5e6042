import type { Path, Refusal } from './refusal.ts';

export interface Failure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const openaiCodes: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};

// The statuses with which a real host asks the client to retry.
const retryable = new Set([429, 503, 529]);

/** The failure in the Messages dialect. */
export function messagesFailure(refusal: Refusal, requestId: string): Failure {
  const { status } = refusal;
  const type = messagesTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const place = refusal.path?.join('.') ?? '';
  const message = place === '' ? refusal.message : `${place}: ${refusal.message}`;
  const details = refusal.errorCode === undefined ? {} : { details: { error_code: refusal.errorCode } };
  return {
    status,
    headers: retryHeaders(status),
    body: { type: 'error', error: { type, message, ...details }, request_id: requestId },
  };
}

/** The failure in the three OpenAI dialects. */
export function openaiFailure(refusal: Refusal): Failure {
  const { status } = refusal;
  const param = refusal.path === undefined || refusal.path.length === 0 ? null : openaiPlace(refusal.path);
  const message = param === null ? refusal.message : `${param}: ${refusal.message}`;
  const code = refusal.code ?? openaiCodes[status] ?? null;
  return {
    status,
    headers: retryHeaders(status),
    body: { error: { message, type: openaiType(status), param, code } },
  };
}

function openaiType(status: number): string {
  if (status === 429) return 'rate_limit_exceeded';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

function openaiPlace(path: Path): string {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`))
    .join('');
}

function retryHeaders(status: number): Record<string, string> {
  return retryable.has(status) ? { 'retry-after': '1' } : {};
}
