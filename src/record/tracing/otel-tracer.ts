import { setTimeout as pause } from 'node:timers/promises';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { messageOf } from '../../lib/message-of.ts';
import { operations } from '../metrics/exchange-metrics.ts';
import type { ExchangeRecord } from '../record.ts';

export interface TracerOptions {
  readonly version: string;
  /** How long a batch may take, in milliseconds, unless the environment sets it. */
  readonly timeoutMs: number | undefined;
  /** Called with the cause when batches can't be sent, and without one when they can again. */
  readonly onState: (cause: string | undefined) => void;
}

/** Traces exchanges, without any of their content. */
export interface Tracer {
  begin(beginning: TraceBeginning): ExchangeSpans;
  /** Resolves when all spans are sent, as far as that is possible within seconds. */
  close(): Promise<void>;
}

interface TraceBeginning {
  readonly startedMs: number;
  /** W3C trace context as the client sent it. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

const closeMs = 5_000;
const propagator = new W3CTraceContextPropagator();

/**
 * Sends spans by OTLP over HTTP. OpenTelemetry itself reads the endpoint, the sampler and the service name from the
 * OTEL_* variables.
 */
export function createOtelTracer({ version, timeoutMs, onState }: TracerOptions): Tracer {
  const exporter = new OTLPTraceExporter(timeoutMs === undefined ? {} : { timeoutMillis: timeoutMs });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'gateway', 'service.version': version }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor(reporting(exporter, onState))],
  });
  const tracer = provider.getTracer('gateway', version);
  return {
    begin: (beginning) => new ExchangeSpans(tracer, beginning),
    close: async () => {
      // A failure to send has already been reported.
      const sent = provider.shutdown().catch(() => undefined);
      const late = new AbortController();
      const tooLong = pause(closeMs, undefined, { signal: late.signal }).catch(() => undefined);
      await Promise.race([sent, tooLong]);
      late.abort();
    },
  };
}

type OtelSdkTracer = ReturnType<BasicTracerProvider['getTracer']>;

/** The spans of one exchange: its own, one for the decision, one for each attempt. */
export class ExchangeSpans {
  readonly #tracer: OtelSdkTracer;
  readonly #span: Span;
  readonly #context: Context;
  readonly #hasParent: boolean;
  #attempt: Span | undefined;

  constructor(tracer: OtelSdkTracer, { startedMs, traceparent, tracestate }: TraceBeginning) {
    this.#tracer = tracer;
    const parent = propagator.extract(
      ROOT_CONTEXT,
      { traceparent, tracestate },
      { get: (carrier, key) => carrier[key as keyof typeof carrier], keys: Object.keys },
    );
    this.#hasParent = trace.getSpanContext(parent) !== undefined;
    this.#span = tracer.startSpan('exchange', { kind: SpanKind.SERVER, startTime: startedMs }, parent);
    this.#context = trace.setSpan(parent, this.#span);
  }

  /** The policies have decided, in this many microseconds. */
  decided(decision: string, rules: readonly string[], microseconds: number): void {
    const endMs = Date.now();
    const attributes = {
      'gateway.decision': decision,
      ...(rules.length > 0 && { 'gateway.rules': [...new Set(rules)] }),
    };
    const startTime = endMs - microseconds / 1_000;
    this.#tracer.startSpan('decision', { startTime, attributes }, this.#context).end(endMs);
  }

  /**
   * A request is about to be sent. Writes its trace context into `headers` (alternating names and values), which hold
   * those client headers that may leave: a trace id that was removed from them stays removed.
   */
  attempt({ provider, model }: { provider: string; model: string }, headers: string[]): void {
    this.#attempt?.end();
    const attributes = { 'gen_ai.provider.name': provider, 'gen_ai.request.model': model };
    this.#attempt = this.#tracer.startSpan(
      `attempt ${provider}`,
      { kind: SpanKind.CLIENT, attributes },
      this.#context,
    );
    this.#propagate(this.#attempt, headers);
  }

  #propagate(span: Span, headers: string[]): void {
    const isForwarded = indexOf(headers, 'traceparent') >= 0;
    if (!this.#hasParent || !isForwarded) remove(headers, 'tracestate'); // it belongs to a trace that goes no further
    if (this.#hasParent && !isForwarded) return;
    const carrier: Record<string, string> = {};
    propagator.inject(trace.setSpan(ROOT_CONTEXT, span), carrier, {
      set: (into, key, value) => {
        into[key] = value;
      },
    });
    const { traceparent } = carrier;
    if (traceparent === undefined) return;
    remove(headers, 'traceparent');
    headers.push('traceparent', traceparent);
  }

  /** The attempt got the head of an answer, or failed with a reason. */
  attemptEnded(outcome: { readonly status: number } | { readonly reason: string }): void {
    if ('reason' in outcome) {
      this.#attempt?.setAttribute('error.type', outcome.reason).setStatus({ code: SpanStatusCode.ERROR });
      this.#attempt?.end();
      this.#attempt = undefined;
      return;
    }
    this.#attempt?.setAttribute('http.response.status_code', outcome.status);
    if (outcome.status >= 400) this.#attempt?.setStatus({ code: SpanStatusCode.ERROR });
  }

  finished(record: ExchangeRecord): void {
    this.#attempt?.end();
    this.#span.updateName(nameOf(record));
    this.#span.setAttributes(attributesOf(record));
    if (record.outcome === 'failed' || record.status >= 500)
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }
}

function nameOf({ endpoint = 'exchange', method }: ExchangeRecord): string {
  return `${method} ${endpoint}`;
}

const longest = 200;

function attributesOf(record: ExchangeRecord) {
  const { usage, reason } = record;
  return {
    'http.request.method': record.method,
    'http.response.status_code': record.status,
    'gateway.request_id': record.request_id,
    'gateway.outcome': record.outcome,
    'gateway.project': record.project,
    'gateway.key': record.key,
    'gateway.attempts': record.attempts,
    'gateway.first_byte_ms': record.first_byte_ms,
    'gen_ai.operation.name': record.endpoint && operations[record.endpoint],
    'gen_ai.conversation.id': record.session,
    'gen_ai.request.model': record.model?.slice(0, longest),
    'gen_ai.provider.name': record.provider,
    'gen_ai.response.model': record.target_model?.slice(0, longest),
    'gen_ai.usage.input_tokens': usage?.input_tokens,
    'gen_ai.usage.output_tokens': usage?.output_tokens,
    // Both are part of the input tokens.
    'gen_ai.usage.cache_read.input_tokens': usage?.cache_read_tokens,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cache_write_tokens,
    'error.type': reason,
  };
}

function reporting(exporter: SpanExporter, onState: TracerOptions['onState']): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const fails = result.code !== ExportResultCode.SUCCESS;
        if (fails !== isFailing) onState(fails ? messageOf(result.error ?? 'no answer') : undefined);
        isFailing = fails;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

function indexOf(headers: readonly string[], name: string): number {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return i;
  return -1;
}

function remove(headers: string[], name: string): void {
  const at = indexOf(headers, name);
  if (at >= 0) headers.splice(at, 2);
}
