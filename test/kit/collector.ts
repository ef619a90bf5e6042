import { type HostRequest, type ScriptedHost, startHost } from './host.ts';

/** A span as it came, with its attributes as an object. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly isError: boolean;
  readonly ms: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Collector extends Pick<ScriptedHost, 'url' | 'close'> {
  /** All that was received, as text. */
  readonly text: string;
  until(isThere: (spans: readonly ReceivedSpan[]) => boolean): Promise<readonly ReceivedSpan[]>;
  /** The status of the next answers. */
  answerWith(status: number): void;
}

/** A receiver of OTLP over HTTP on loopback, which reads its JSON. */
export async function startCollector(): Promise<Collector> {
  const taken: HostRequest[] = [];
  let status = 200;
  const host = await startHost((response, request) => {
    if (request.target === '/v1/traces' && status === 200) taken.push(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  return {
    url: host.url,
    close: host.close,
    get text() {
      return taken.map(({ body }) => body.toString()).join('');
    },
    until: async (isThere) => {
      for (;;) {
        const spans = taken.flatMap(spansOf);
        if (isThere(spans)) return spans;
        await host.next();
      }
    },
    answerWith: (next) => {
      status = next;
    },
  };
}

interface OtlpSpan extends Omit<ReceivedSpan, 'isError' | 'ms' | 'attributes' | 'resource'> {
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

function spansOf({ body }: HostRequest): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body.toString()) as OtlpRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        isError: span.status.code === 2,
        ms: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1_000_000,
        attributes: toObject(span.attributes),
        resource: toObject(resource.attributes),
      })),
    ),
  );
}

type OtlpAttributes = readonly { readonly key: string; readonly value: OtlpValue }[];

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
}

function toObject(attributes: OtlpAttributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toValue(value)]));
}

function toValue({ stringValue, intValue, doubleValue, arrayValue }: OtlpValue): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(toValue);
  return stringValue ?? (intValue === undefined ? doubleValue : Number(intValue));
}
