import { GatewayError } from '../errors.ts';

/** The error for a request head that timed out. */
export function lateHead(): GatewayError {
  return new GatewayError('request.timeout', 'the request head did not arrive in time');
}

/** The error for a request beyond those that may wait on a connection. */
export function tooManyPipelined(limit: number): GatewayError {
  const message = `more than ${limit} requests wait on this connection; open another one`;
  return new GatewayError('gateway.overloaded', message, { retryAfterS: 1 });
}
