import type { Dispatcher, Pool as UndiciPool } from 'undici';
// Loading all of undici (fetch, WebSocket, caches) takes three times as long as its pool alone.
import UndiciPoolClass from 'undici/lib/dispatcher/pool.js';

export type Pool = UndiciPool;
export type DispatchHandler = Dispatcher.DispatchHandler;

interface PoolOptions {
  readonly connections: number;
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly idleMs: number };
}

// Longer ones meet the peer's own closing, and a POST that meets it can't be sent again.
const keepAliveMs = 4_000;
const answerHeadBytes = 32 * 1024;

/** Connections to one origin: HTTP/1.1, one request at a time on each, no redirects, bodies as they come. */
export function createPool(origin: string, { connections, timeouts }: PoolOptions): Pool {
  return new UndiciPoolClass(origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: timeouts.connectMs },
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.idleMs,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxHeaderSize: answerHeadBytes,
  });
}
