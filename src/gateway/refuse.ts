import { toGatewayError } from '../errors.ts';
import type { Exchange } from './exchange.ts';

/** Answers what was thrown, unless the answer has begun (then the relay has told the client) or nobody is there. */
export function refuse(exchange: Exchange, thrown: unknown): void {
  const error = toGatewayError(thrown);
  exchange.fail(error);
  if (exchange.response.headersSent || exchange.response.isClosed) return;
  exchange.giveError(error);
}
