import { GatewayError } from '../errors.ts';

/** The refusal of what two readers could take differently. */
export function malformed(what: string): GatewayError {
  return new GatewayError('request.framing', `this is not well-formed HTTP/1.1: ${what}`);
}
