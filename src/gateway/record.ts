import { createHash } from 'node:crypto';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { outcomeOf } from './record-draft.ts';

export function beginSpans(exchange: Exchange, { tracer }: Pick<Gateway, 'tracer'>): void {
  if (tracer === undefined) return;
  const { request, startedMs } = exchange;
  const [traceparent, tracestate] = [request.header('traceparent'), request.header('tracestate')];
  exchange.spans = tracer.begin({ startedMs, traceparent, tracestate });
}

/** Keeps the body until the exchange is over, and a copy in the record if that is to hold bodies. */
export function noteBody(
  exchange: Exchange,
  body: Buffer,
  { recordsBodies }: Pick<Gateway, 'recordsBodies'>,
): void {
  const { draft, trace, login } = exchange;
  exchange.body = body;
  draft.note({ bytes_in: body.length });
  if (trace === undefined && !recordsBodies) return;
  const shown = login?.scrubber.bytes(body) ?? body;
  trace?.received(shown);
  if (recordsBodies) draft.note({ request_body: shown.toString() });
}

/** Ends an exchange that has been settled: its record is written, and its memory given back. */
export function record(
  exchange: Exchange,
  { hash: configHash, record: write }: Pick<Gateway, 'hash' | 'record'>,
): void {
  const { draft, held, trace, spans, failure, status, scrubber, isRecorded } = exchange;
  held?.release();
  const written = draft.finish({ error: failure, status, configHash, scrub: scrubber.text });
  if (isRecorded) trace?.finished(written, failure && scrubber.text(failure.message));
  spans?.finished(written);
  if (isRecorded) write(written, repeatKey(exchange));
}

/**
 * A key that is the same each time the same session gets the same refusal for the same body; undefined for everything
 * else. Agents that repeat a refused request name their session.
 */
function repeatKey({ sender, draft, body, failure }: Exchange): string | undefined {
  if (failure === undefined || outcomeOf(failure) !== 'refused') return undefined;
  const { key, path, bytes_in: bytes } = draft.soFar;
  // The memory of a large body may have been transferred to the decision thread.
  if (body === undefined || body.length !== bytes) return undefined;
  if (sender?.session === undefined) return undefined;
  const facts = [key, path, failure.reason, sender.session, sender.subagent];
  return createHash('sha256').update(facts.join('\n')).update(body).digest('base64');
}
