import { GatewayError, toGatewayError } from '../../errors.ts';
import { checkOrigin, hostsAt } from '../../http/check-origin.ts';
import { defaultListenLimits, type Listener, listen } from '../../http/listen.ts';
import { type HttpRequest, newRequestId } from '../../http/request.ts';
import { sendError } from '../../http/respond.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { MetricData } from '../../record/metrics/families.ts';

interface ServeMetricsOptions {
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: ReadonlySet<string>;
  /** What every process has counted. */
  readonly read: () => Promise<readonly (readonly MetricData[])[]>;
}

const path = '/metrics';
const limits = { ...defaultListenLimits, connections: 64, drainMs: 1_000 };
const noOrigins: ReadonlySet<string> = new Set();

/** Serves the metrics, and nothing else, to Prometheus. Throws port.busy and what an unusable address throws. */
export function serveMetrics({ host, port, allowedHosts, read }: ServeMetricsOptions): Promise<Listener> {
  const access = { ...hostsAt(host, allowedHosts), allowedOrigins: noOrigins };
  /** One reading for all concurrent scrapes. */
  let reading: Promise<MetricsResponse> | undefined;
  const answer = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const requestId = newRequestId();
    try {
      checkOrigin(request, access);
      checkTarget(request);
      reading ??= render(read).finally(() => {
        reading = undefined;
      });
      const { type, text } = await reading;
      if (response.isClosed) return;
      const fields = ['content-type', type, 'content-length', String(text.length)];
      response.writeHead(200, [...fields, 'x-content-type-options', 'nosniff', 'cache-control', 'no-store']);
      response.end(text);
    } catch (error) {
      if (!response.headersSent && !response.isClosed) sendError(response, toGatewayError(error), requestId);
    }
  };
  return listen({
    host,
    port,
    limits,
    onRequest: (request, response) => void answer(request, response), // never rejects: it answers failures itself
  });
}

interface MetricsResponse {
  readonly type: string;
  readonly text: Buffer;
}

async function render(read: ServeMetricsOptions['read']): Promise<MetricsResponse> {
  // Loaded by the first scrape, because it would take a tenth of the start-up time.
  const { contentType, metricsText } = await import('../../record/metrics/metrics-text.ts');
  return { type: contentType, text: Buffer.from(await metricsText(await read())) };
}

function checkTarget({ method, target }: HttpRequest): void {
  if (target.split('?', 1)[0] !== path) {
    throw new GatewayError('endpoint.unknown', `only ${path} is served here`);
  }
  if (method !== 'GET' && method !== 'HEAD') {
    throw new GatewayError('method.not_allowed', `${path} takes GET only`, {
      headers: { allow: 'GET, HEAD' },
    });
  }
}
