import { type FailureCode, failures, GatewayError } from '../errors.ts';

/** The store's error as one of ours, so that the command ends with its exit code. */
export function toFailure(status: number, body: unknown, baseUrl: string): GatewayError {
  const { reason, message, param } = readBody(body);
  if (status >= 500 && reason !== 'store.database' && reason !== 'gateway.overloaded') {
    return new GatewayError(
      'store.unreachable',
      `the plant store at ${baseUrl} failed with status ${status}`,
    );
  }
  const code = reason !== undefined && isCode(reason) ? reason : codeOf(status);
  const text = message ?? `the plant store at ${baseUrl} answered with status ${status}`;
  const hint = code === 'login.required' ? ' (gateway plants login)' : '';
  return new GatewayError(code, text + hint, param === undefined ? {} : { param });
}

/** Why a request to the store failed: timed out, interrupted, or no store there at all. */
export function toConnectionFailure(thrown: unknown, baseUrl: string, signal: AbortSignal): unknown {
  if (thrown instanceof GatewayError || signal.aborted) return thrown;
  if (thrown instanceof Error && thrown.name === 'TimeoutError') {
    return new GatewayError('store.unreachable', `the plant store at ${baseUrl} did not answer in time`, {
      cause: thrown,
    });
  }
  if (thrown instanceof SyntaxError) return notAStore(baseUrl, thrown);
  return new GatewayError(
    'store.unreachable',
    `no plant store at ${baseUrl}: start one with "gateway serve", or set PLANTS_URL`,
    { cause: thrown },
  );
}

export function notAStore(baseUrl: string, cause?: unknown): GatewayError {
  return new GatewayError('store.unreachable', `what answers at ${baseUrl} is no plant store`, { cause });
}

/** Text from outside, without control sequences for the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ');
}

function readBody(body: unknown): { reason?: string; message?: string; param?: string } {
  if (typeof body !== 'object' || body === null || !('error' in body)) return {};
  if (typeof body.error !== 'object' || body.error === null) return {};
  const { reason, message, param }: Record<string, unknown> = { ...body.error };
  return {
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof message === 'string' ? { message: printable(message).slice(0, 500) } : {}),
    ...(typeof param === 'string' ? { param: printable(param).slice(0, 100) } : {}),
  };
}

function isCode(reason: string): reason is FailureCode {
  return Object.hasOwn(failures, reason);
}

function codeOf(status: number): FailureCode {
  if (status === 401) return 'login.required';
  if (status === 404) return 'plant.unknown';
  if (status === 429) return 'limit.requests';
  return 'request.unsupported';
}
