import type { ExchangeRecord } from '../record.ts';

/** Makes traces of exchanges; nothing of their content is in them. */
export interface Tracer {
  begin(beginning: TraceBeginning): ExchangeSpans;
  /** What was traced is sent when it resolves, as far as that is possible within seconds. */
  close(): Promise<void>;
}

export interface TraceBeginning {
  readonly startedMs: number;
  /** W3C trace context as the client sent it. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** The spans of one exchange: its own, that of the decision, one for each attempt. */
export interface ExchangeSpans {
  /** The policies have decided, in so many microseconds. */
  decided(decision: string, rules: readonly string[], microseconds: number): void;
  /**
   * A request is about to be sent. Its context goes into `headers` (names and values, alternating), which hold what
   * of the client's own has been judged fit to leave: a trace id that was taken out there stays out.
   */
  attempt(target: { readonly provider: string; readonly model: string }, headers: string[]): void;
  /** The attempt has the head of an answer, or failed for a reason. */
  attemptEnded(outcome: { readonly status: number } | { readonly reason: string }): void;
  finished(record: ExchangeRecord): void;
}
