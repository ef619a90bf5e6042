import { toGatewayError } from '../errors.ts';
import { sendError } from '../http/respond.ts';
import { limitHeaders } from '../limits/limit-headers.ts';
import { LimitError } from '../limits/limiter.ts';
import type { Exchange } from './exchange.ts';
import { refusalForm } from './refusal-form.ts';

/** Sends the error, unless the answer has begun (then the relay has ended it) or the client has disconnected. */
export function refuse(exchange: Exchange, thrown: unknown): void {
  const error = toGatewayError(thrown);
  exchange.failure = error;
  const { request, response, draft, id } = exchange;
  if (response.headersSent || response.isClosed) return;
  draft.noteFirstByte();
  const options = { ...refusalForm(error, request), headers: toFields(limitHeadersOf(exchange)) };
  draft.noteBytesOut(sendError(response, error, id, options));
}

/** Rate-limit headers as the client's SDK reads them, a flat list; empty if nothing is limited. */
export function limitHeadersOf({ failure, spending, startedMs }: Exchange): readonly string[] {
  const states = failure instanceof LimitError ? failure.states : spending?.reservation?.states;
  if (spending === undefined || states === undefined) return [];
  return limitHeaders(states, spending.dialect, startedMs);
}

/** Turns a flat list of names and values into an object. */
function toFields(list: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) fields[list[i] as string] = list[i + 1] as string;
  return fields;
}
