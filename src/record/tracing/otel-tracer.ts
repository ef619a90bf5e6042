import { setTimeout as pause } from 'node:timers/promises';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { messageOfError } from '../../lib/message-of.ts';
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
  /** Follows an exchange whose head has arrived. */
  follow(exchange: TracedExchange): ExchangeSpans;
  /** Resolves when all spans are sent, as far as that is possible within seconds. */
  close(): Promise<void>;
}

interface TracedExchange {
  readonly startedMs: number;
  readonly request: { readonly method: string; header(name: string): string | undefined };
}

/** How an attempt to send a request to a provider ended. */
type AttemptEnd =
  | { readonly kind: 'answered'; readonly forwarded: { readonly answer: { readonly status: number } } }
  | { readonly kind: 'failed'; readonly failure: { readonly error: { readonly reason: string } } }
  | { readonly kind: 'abandoned' };

interface SentRequest {
  readonly target: {
    readonly provider: { readonly options: { readonly name: string } };
    readonly model: string;
  };
  /** `headers` alternates names and values, and holds those client headers that may leave. */
  readonly request: { readonly headers: string[] };
}

interface Decided {
  readonly decision: { readonly action: string; readonly verdicts: readonly { readonly rule: string }[] };
  readonly microseconds: number;
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
    follow: (exchange) => new ExchangeSpans(tracer, exchange),
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

/** Subscribes to one exchange. Its spans: its own, one for the decision, one for each attempt. */
export class ExchangeSpans {
  readonly #tracer: OtelSdkTracer;
  readonly #exchange: TracedExchange;
  /** Undefined before its key is known, and for what needs no provider. */
  #spans: { readonly whole: Span; readonly context: Context; readonly hasParent: boolean } | undefined;
  #attempt: Span | undefined;

  constructor(tracer: OtelSdkTracer, exchange: TracedExchange) {
    this.#tracer = tracer;
    this.#exchange = exchange;
  }

  authenticated(): void {
    const { request, startedMs } = this.#exchange;
    if (request.method !== 'POST') return;
    const parent = propagator.extract(ROOT_CONTEXT, request, {
      get: (carrier, name) => carrier.header(name),
      keys: () => ['traceparent', 'tracestate'],
    });
    const whole = this.#tracer.startSpan('exchange', { kind: SpanKind.SERVER, startTime: startedMs }, parent);
    const hasParent = trace.getSpanContext(parent) !== undefined;
    this.#spans = { whole, context: trace.setSpan(parent, whole), hasParent };
  }

  decided({ decision, microseconds }: Decided): void {
    if (this.#spans === undefined) return;
    const endMs = Date.now();
    const rules = decision.verdicts.map(({ rule }) => rule);
    const attributes = {
      'gateway.decision': decision.action,
      ...(rules.length > 0 && { 'gateway.rules': [...new Set(rules)] }),
    };
    const startTime = endMs - microseconds / 1_000;
    this.#tracer.startSpan('decision', { startTime, attributes }, this.#spans.context).end(endMs);
  }

  /** Writes the attempt's trace context into the headers: a trace id that was removed from them stays removed. */
  sending({ target, request }: SentRequest): void {
    if (this.#spans === undefined) return;
    this.#attempt?.end();
    const { name } = target.provider.options;
    const attributes = { 'gen_ai.provider.name': name, 'gen_ai.request.model': target.model };
    this.#attempt = this.#tracer.startSpan(
      `attempt ${name}`,
      { kind: SpanKind.CLIENT, attributes },
      this.#spans.context,
    );
    propagate(this.#attempt, request.headers, this.#spans);
  }

  /** The span of an attempt that was answered ends with the exchange. */
  attemptEnded(attempt: AttemptEnd): void {
    if (attempt.kind === 'abandoned') return;
    if (attempt.kind === 'failed') {
      this.#attempt?.setAttribute('error.type', attempt.failure.error.reason);
      this.#attempt?.setStatus({ code: SpanStatusCode.ERROR });
      this.#attempt?.end();
      this.#attempt = undefined;
      return;
    }
    const { status } = attempt.forwarded.answer;
    this.#attempt?.setAttribute('http.response.status_code', status);
    if (status >= 400) this.#attempt?.setStatus({ code: SpanStatusCode.ERROR });
  }

  ended({ record }: { readonly record: ExchangeRecord }): void {
    this.#attempt?.end();
    const whole = this.#spans?.whole;
    whole?.updateName(nameOf(record));
    whole?.setAttributes(attributesOf(record));
    if (record.outcome === 'failed' || record.status >= 500) whole?.setStatus({ code: SpanStatusCode.ERROR });
    whole?.end();
  }
}

function propagate(span: Span, headers: string[], { hasParent }: { readonly hasParent: boolean }): void {
  const isForwarded = indexOf(headers, 'traceparent') >= 0;
  if (!hasParent || !isForwarded) remove(headers, 'tracestate'); // it belongs to a trace that goes no further
  if (hasParent && !isForwarded) return;
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
        if (fails !== isFailing) onState(fails ? messageOfError(result.error ?? 'no answer') : undefined);
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
