import { Pool } from 'undici';
import { type ConnectOptions, connectTo, endpointOf } from './connect.ts';
import { HostClient } from './host-client.ts';

// If idle connections are kept for longer, a request may cross with the host's close, and a POST can't be retried then.
const keepAliveMs = 4_000;
/** An idle connection is closed this much earlier than the host announces, so that its last request still arrives. */
const keepAliveMarginMs = 2_000;
const answerHeadBytes = 32 * 1024;

/** undici's connections to one origin. The only file that the first request to a provider waits for. */
export function openPool(origin: string, options: ConnectOptions): Pool {
  const connect = connectTo(endpointOf(new URL(origin)), options);
  return new Pool(origin, {
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    keepAliveTimeoutThreshold: keepAliveMarginMs,
    maxHeaderSize: answerHeadBytes,
    // undici's own timers are coarse, and don't cover the time before the request is written.
    headersTimeout: 0,
    bodyTimeout: 0,
    factory: (url, client) => new HostClient(url, client, connect),
  });
}
