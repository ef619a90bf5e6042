import { createServer } from 'node:http';
import { type Listening, listening } from './listening.ts';

/** A span as it came, with its attributes as an object. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly kind: number;
  readonly isError: boolean;
  readonly ms: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Collector extends Pick<Listening, 'url' | 'close'> {
  readonly spans: readonly ReceivedSpan[];
  /** All that was received, as text. */
  readonly text: string;
  until(isThere: (spans: readonly ReceivedSpan[]) => boolean): Promise<readonly ReceivedSpan[]>;
  /** The status of the next answers. */
  answerWith(status: number): void;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
}

type OtlpAttributes = readonly { readonly key: string; readonly value: OtlpValue }[];

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: OtlpAttributes;
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpAttributes };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A receiver of OTLP over HTTP on loopback, which reads its JSON. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  let text = '';
  let status = 200;
  let look: () => void = () => undefined;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    if (request.url !== '/v1/traces' || status !== 200) return;
    text += body;
    for (const { resource, scopeSpans } of (JSON.parse(body) as OtlpRequest).resourceSpans) {
      for (const each of scopeSpans)
        spans.push(...each.spans.map((span) => toSpan(span, resource.attributes)));
    }
    look();
  });
  const { url, close } = await listening(server);
  return {
    url,
    close,
    spans,
    get text() {
      return text;
    },
    until: (isThere) =>
      new Promise((resolve) => {
        look = () => {
          if (isThere(spans)) resolve(spans);
        };
        look();
      }),
    answerWith: (next) => {
      status = next;
    },
  };
}

function toSpan(span: OtlpSpan, resource: OtlpAttributes): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId, kind, status } = span;
  return {
    name,
    traceId,
    spanId,
    parentSpanId,
    kind,
    isError: status.code === 2,
    ms: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1_000_000,
    attributes: toObject(span.attributes),
    resource: toObject(resource),
  };
}

function toObject(attributes: OtlpAttributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toValue(value)]));
}

function toValue({ stringValue, intValue, doubleValue, arrayValue }: OtlpValue): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(toValue);
  return stringValue ?? (intValue === undefined ? doubleValue : Number(intValue));
}
