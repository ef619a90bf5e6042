import type { ExchangeRecord } from '../record.ts';

/** Traces exchanges, without any of their content. */
export interface Tracer {
  begin(beginning: TraceBeginning): ExchangeSpans;
  /** Resolves when all spans are sent, as far as that is possible within seconds. */
  close(): Promise<void>;
}

export interface TraceBeginning {
  readonly startedMs: number;
  /** W3C trace context as the client sent it. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** The spans of one exchange: its own, one for the decision, one for each attempt. */
export interface ExchangeSpans {
  /** The policies have decided, in this many microseconds. */
  decided(decision: string, rules: readonly string[], microseconds: number): void;
  /**
   * A request is about to be sent. Writes its trace context into `headers` (alternating names and values), which hold
   * those client headers that may leave: a trace id that was removed from them stays removed.
   */
  attempt(target: { readonly provider: string; readonly model: string }, headers: string[]): void;
  /** The attempt got the head of an answer, or failed with a reason. */
  attemptEnded(outcome: { readonly status: number } | { readonly reason: string }): void;
  finished(record: ExchangeRecord): void;
}
