/** Process exit codes of every command; scripts rely on them. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  blocked: 3,
  login: 4,
  notFound: 5,
  limit: 6,
  provider: 7,
  unreachable: 8,
  interrupted: 130,
  terminated: 143,
} as const;

type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'timeout_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'overloaded_error'
  | 'api_error';

export interface Failure {
  readonly status: number;
  readonly type: ErrorType;
  readonly exit: number;
  /** False if waiting can't help; sent to clients as `x-should-retry: false`. */
  readonly retry: boolean;
}

const invalid = (status: number): Failure => ({
  status,
  type: 'invalid_request_error',
  exit: 1,
  retry: false,
});
const unauthenticated: Failure = { status: 401, type: 'authentication_error', exit: 4, retry: false };
const forbidden: Failure = { status: 403, type: 'permission_error', exit: 3, retry: false };
const missing: Failure = { status: 404, type: 'not_found_error', exit: 5, retry: false };
const limited: Failure = { status: 429, type: 'rate_limit_error', exit: 6, retry: true };
const broken: Failure = { status: 502, type: 'api_error', exit: 7, retry: true };
const overloaded: Failure = { status: 503, type: 'overloaded_error', exit: 7, retry: true };

/**
 * The one table of failures: everything the product itself refuses or fails with, its HTTP status,
 * the SDKs' error type, the exit code of a command that meets it, and whether a retry can help.
 */
export const failures = {
  'request.invalid_json': invalid(400),
  'request.duplicate_key': invalid(400),
  'request.too_deep': invalid(400),
  'request.encoding': invalid(400),
  'request.framing': invalid(400),
  'request.field': invalid(400),
  'request.unsupported': invalid(400),
  'request.thread_unsupported': invalid(400),
  'request.media_type': invalid(415),
  'request.expectation': invalid(417),
  'request.headers_too_large': invalid(431),
  'request.too_large': { status: 413, type: 'request_too_large', exit: 1, retry: false },
  'request.timeout': { status: 408, type: 'timeout_error', exit: 1, retry: true },

  'key.missing': unauthenticated,
  'key.invalid': unauthenticated,
  'key.expired': unauthenticated,
  'key.conflict': unauthenticated,

  'policy.blocked': forbidden,
  'policy.error': forbidden,
  'policy.mismatch': invalid(400),
  'model.not_allowed': forbidden,
  'origin.not_allowed': forbidden,

  'endpoint.unknown': missing,
  'model.unknown': missing,
  'key.unknown': missing,
  'log.unknown': missing,
  'method.not_allowed': invalid(405),
  'request.upgrade': invalid(426),
  'host.not_allowed': invalid(421),

  'limit.requests': limited,
  'limit.tokens': limited,
  'limit.budget': { ...limited, retry: false },
  'limit.repeated': { ...limited, retry: false },
  'limit.concurrency': limited,
  'limit.state_unavailable': { ...overloaded, exit: 6 },

  'gateway.internal': { status: 500, type: 'api_error', exit: 1, retry: false },
  'gateway.overloaded': overloaded,
  'gateway.draining': overloaded,

  'provider.unreachable': broken,
  'provider.broken_response': broken,
  'provider.credentials_rejected': { ...broken, retry: false },
  // None could be had, so that nothing was sent.
  'provider.credentials_missing': { ...broken, retry: false },
  'provider.unavailable': overloaded,
  'provider.timeout': { status: 504, type: 'timeout_error', exit: 7, retry: true },

  'session.required': unauthenticated,
  'session.invalid': unauthenticated,
  'inspector.unknown': missing,
  'inspector.not_kept': invalid(409),
  'inspector.no_ledger': invalid(409),
  'inspector.busy': limited,
  'inspector.too_long': invalid(422),

  'login.required': unauthenticated,
  'login.failed': unauthenticated,
  'login.throttled': limited,
  'plant.invalid': invalid(405),
  'plant.ambiguous': invalid(400),
  'plant.unknown': missing,
  'user.unknown': missing,
  'user.exists': invalid(409),
  'store.database': overloaded,

  'usage.invalid': { ...invalid(400), exit: 2 },
  'config.invalid': { ...invalid(400), exit: 2 },
  'config.untrusted': { ...invalid(400), exit: 2 },
  'answer.mismatch': { status: 502, type: 'api_error', exit: 1, retry: true },
  'output.failed': { status: 500, type: 'api_error', exit: 1, retry: false },
  'port.busy': invalid(400),
  // Commands only: no HTTP status is sent.
  'drain.incomplete': { status: 500, type: 'api_error', exit: 1, retry: false },
  'doctor.errors': { status: 500, type: 'api_error', exit: 1, retry: false },
  'agent.missing': { ...missing, exit: 127 },
  'agent.failed': { ...missing, exit: 126 },
  'gateway.unreachable': { status: 502, type: 'api_error', exit: 8, retry: true },
  'store.unreachable': { status: 502, type: 'api_error', exit: 8, retry: true },
  // The client is gone, so no status is sent; 499 is what nginx logs in this case.
  'client.left': { status: 499, type: 'api_error', exit: 1, retry: false },
  interrupted: { status: 499, type: 'api_error', exit: 130, retry: false },
  terminated: { status: 499, type: 'api_error', exit: 143, retry: false },
} as const satisfies Record<string, Failure>;

export type FailureCode = keyof typeof failures;

interface GatewayErrorDetails {
  /** The underlying failure. It is logged, never sent. */
  readonly cause?: unknown;
  /** JSON pointer, parameter or option that was wrong; sent as `error.param`. */
  readonly param?: string;
  /** For a command: the id of the request that was refused or failed. */
  readonly requestId?: string | undefined;
  /** Replaces the code as `error.reason`, for policy rules that name their own. */
  readonly reason?: string;
  /** Sent as `error.details.error_code`, which Anthropic's clients act on. */
  readonly errorCode?: string;
  /** What found the text that a policy refuses. */
  readonly detectors?: readonly string[];
  /** Seconds the caller should wait; sent as Retry-After. */
  readonly retryAfterS?: number;
  /** False if waiting can't help this request, though it helps others with the same code. */
  readonly retry?: false;
  /** Extra response headers, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A failure with a code from the table. The message is a sentence fragment for the person who can fix it: what was wrong,
 * where, and what would be right; never a key, a prompt or a provider's text.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: FailureCode;
  readonly reason: string;
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  readonly errorCode: string | undefined;
  readonly detectors: readonly string[];
  readonly retryAfterS: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly failure: Failure;

  constructor(code: FailureCode, message: string, details: GatewayErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.reason = details.reason ?? code;
    this.param = details.param;
    this.requestId = details.requestId;
    this.errorCode = details.errorCode;
    this.detectors = details.detectors ?? [];
    this.retryAfterS = details.retryAfterS;
    this.headers = details.headers ?? {};
    this.failure = details.retry === false ? { ...failures[code], retry: false } : failures[code];
  }
}

/** Any thrown value as a GatewayError; anything unexpected becomes `gateway.internal` with a fixed message. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('gateway.internal', 'the gateway failed; the log has the cause', { cause: thrown });
}
