import { type AllowedOrigins, checkOrigin } from '../http/check-origin.ts';
import type { Exchange } from './exchange.ts';

/** How long a browser may keep the answer to a preflight: ten minutes. */
const keptS = 600;

/**
 * Lets a page of an allowed origin read what the gateway answers. Returns whether the request was a browser's question
 * whether it may send another (a preflight), which is answered here. Throws host.not_allowed.
 */
export function allowPage(exchange: Exchange, access: AllowedOrigins): boolean {
  const { request, response } = exchange;
  const origin = request.header('origin');
  if (origin === undefined || !access.allowedOrigins.has(origin)) return false;
  const cors = ['access-control-allow-origin', origin, 'vary', 'origin'];
  response.always = [...cors, 'access-control-expose-headers', '*'];
  if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined)
    return false;
  checkOrigin(request, access);
  exchange.record.isKept = false; // it asks for nothing; the request that follows is recorded
  const fields = request.header('access-control-request-headers');
  response.writeHead(204, [
    ...['access-control-allow-methods', 'GET, HEAD, POST'],
    ...(fields === undefined ? [] : ['access-control-allow-headers', fields]),
    // A public page that calls this machine is asked for once more.
    ...(request.header('access-control-request-private-network') === 'true'
      ? ['access-control-allow-private-network', 'true']
      : []),
    ...['access-control-max-age', String(keptS)],
  ]);
  response.end();
  return true;
}
