import type { GatewayError } from '../errors.ts';

/** The error object that every dialect's clients can read; the body of answers and of error events. */
export function errorValue(error: GatewayError) {
  return {
    type: 'error',
    error: {
      type: error.failure.type,
      reason: error.reason,
      message: error.message,
      code: error.reason,
      param: error.param ?? null,
    },
  } as const;
}
