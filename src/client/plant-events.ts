import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { parseJson } from '../dialects/fields.ts';
import { GatewayError } from '../errors.ts';
import { storeFailure, toConnectionFailure } from './plants.ts';

export interface WatchOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly signal: AbortSignal;
  /** For connecting. */
  readonly timeoutMs: number;
  readonly eventTypes?: readonly string[];
  readonly plantId?: number;
  /** Awaited: the next event is read after this one has been printed. */
  readonly onEvent: (event: WatchedEvent) => Promise<void>;
  readonly onState: (state: 'watching' | 'watching again' | 'connection lost') => void;
}

/** As in the store's AsyncAPI document: `data` or the three other fields, depending on the type. */
export interface WatchedEvent {
  readonly type: string;
  readonly occurredAt: string;
  readonly data?: { readonly id: number; readonly name: string; readonly status: string };
  readonly plantId?: number;
  readonly previousStatus?: string;
  readonly newStatus?: string;
}

const firstPauseMs = 250;
const maxPauseMs = 10_000;
const attemptsInARow = 60;
// The store pings every 30 s: after two missed ones it is gone, even if TCP reports nothing.
const silenceMs = 75_000;
const sessionEnded = 1008;

/**
 * Watches until the signal fires, whose reason is thrown, or until it can't continue: the session is not valid, or the
 * store is unreachable, at the start or for too long. A broken connection is replaced.
 */
export async function watchPlants(options: WatchOptions): Promise<never> {
  let hasWatched = false;
  let failed = 0;
  for (;;) {
    options.signal.throwIfAborted();
    try {
      await watchOnce(options, () => {
        options.onState(hasWatched ? 'watching again' : 'watching');
        hasWatched = true;
        failed = 0;
      });
      options.onState('connection lost');
    } catch (error) {
      failed += 1;
      if (!hasWatched || !mayPass(error) || failed > attemptsInARow) throw error;
    }
    await pause(Math.min(firstPauseMs * 2 ** failed, maxPauseMs), options.signal);
  }
}

/** One connection, until it closes. Throws if it could not be opened, or if the handler of an event failed. */
function watchOnce(options: WatchOptions, onReady: () => void): Promise<void> {
  const { baseUrl, token, signal, timeoutMs, eventTypes, plantId } = options;
  const socket = new WebSocket(`${baseUrl.replace(/^http/, 'ws')}/ws/plants`, {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: timeoutMs,
    perMessageDeflate: false,
    maxPayload: 1024 * 1024,
  });
  return new Promise((resolve, reject) => {
    const silence = setTimeout(() => socket.terminate(), silenceMs);
    const stop = () => {
      reject(signal.reason);
      socket.terminate();
    };
    signal.addEventListener('abort', stop, { once: true });
    socket.on('open', () => {
      socket.send(JSON.stringify({ action: 'subscribe', eventTypes, plantId }));
      // Messages are processed in order, so the answer to a ping sent afterwards shows that the subscription is active.
      socket.ping();
      socket.once('pong', onReady);
    });
    socket.on('ping', () => silence.refresh());
    socket.on('message', (message) => {
      silence.refresh();
      const event = parseEvent(String(message));
      if (event === undefined) return;
      socket.pause();
      options.onEvent(event).then(
        () => socket.resume(),
        (error: unknown) => {
          reject(error);
          socket.terminate();
        },
      );
    });
    socket.on('unexpected-response', (request, response) => {
      // Closing it releases the timer; the request's connection may be kept open by the other side.
      refusal(request, response, baseUrl)
        .then(reject, reject)
        .finally(() => socket.terminate());
    });
    socket.on('error', (error) => reject(toConnectionFailure(error, baseUrl, signal)));
    socket.on('close', (code) => {
      clearTimeout(silence);
      signal.removeEventListener('abort', stop);
      if (code !== sessionEnded) return resolve();
      reject(new GatewayError('login.required', 'the session has ended (gateway plants login)'));
    });
  });
}

async function refusal(
  request: ClientRequest,
  response: IncomingMessage,
  baseUrl: string,
): Promise<GatewayError> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text.length > 65_536) break;
  }
  request.destroy();
  return storeFailure(response.statusCode ?? 0, parseJson(text), baseUrl);
}

function parseEvent(text: string): WatchedEvent | undefined {
  const value = parseJson(text);
  const isEvent =
    typeof value === 'object' &&
    value !== null &&
    'occurredAt' in value &&
    'type' in value &&
    typeof value.type === 'string' &&
    typeof value.occurredAt === 'string';
  return isEvent ? (value as WatchedEvent) : undefined; // the rest is as in the AsyncAPI document
}

/** Whether another attempt may succeed: not with a session that is not valid. */
function mayPass(error: unknown): boolean {
  return error instanceof GatewayError && error.failure.retry;
}

/** Rejects with the signal's reason. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
