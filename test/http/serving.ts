import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { defaultListenLimits, type Listener, type ListenOptions, listen } from '../../src/http/listen.ts';
import type { HttpRequest } from '../../src/http/request.ts';
import type { HttpResponse } from '../../src/http/response.ts';
import { RawConnection } from '../kit/raw.ts';
import { stopAtEnd } from '../kit/started.ts';

interface Begun {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
}

type Options = Partial<Omit<ListenOptions, 'limits'>> & {
  readonly limits?: Partial<ListenOptions['limits']>;
};

export interface Serving {
  readonly listener: Listener;
  /** A client on a connection of its own. */
  readonly open: () => RawConnection;
  /** The next request that arrives, for the test to answer. */
  readonly next: () => Promise<Begun>;
}

/** A server on a free port of loopback. */
function start({ limits, ...options }: Options & Pick<ListenOptions, 'onRequest'>): Promise<Listener> {
  const all = { ...defaultListenLimits, drainMs: 1_000, ...limits };
  return listen({ host: '127.0.0.1', port: 0, limits: all, ...options });
}

/** One for all tests of a file. */
export async function listenForAll(
  onRequest: ListenOptions['onRequest'],
  limits: Options['limits'] = {},
): Promise<Listener> {
  const listener = await start({ onRequest, limits });
  stopAtEnd(() => listener.drain());
  return listener;
}

/** One for a test, which answers by itself unless it says how. */
export async function serve(options: Options = {}): Promise<Serving> {
  const { put, take } = queue<Begun>();
  const listener = await start({ onRequest: (request, response) => put({ request, response }), ...options });
  const connections: RawConnection[] = [];
  onTestFinished(async () => {
    for (const connection of connections) connection.end();
    await listener.drain();
  });
  const open = () => {
    const connection = new RawConnection(listener.port);
    connections.push(connection);
    return connection;
  };
  return { listener, open, next: take };
}

export interface Accepted extends Serving {
  readonly client: RawConnection;
  /** The server's end. */
  readonly socket: Socket;
}

/** The same with one connection, both ends of which the test holds. */
export async function accept({ limits, ...options }: Options = {}): Promise<Accepted> {
  const serving = await serve({ limits: { pipelined: 4, ...limits }, ...options });
  const accepted = queue<Socket>();
  const note = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    if (socket.localPort === serving.listener.port) accepted.put(socket);
  };
  subscribe('net.server.socket', note);
  const client = serving.open();
  const socket = await accepted.take();
  unsubscribe('net.server.socket', note);
  onTestFinished(() => void socket.destroy());
  return { ...serving, client, socket };
}

/** Waits until the server's end has got that many bytes in all, and has handled them. */
export async function untilRead(socket: Socket, bytes: number): Promise<void> {
  while (socket.bytesRead < bytes) await ticks(1);
  await ticks(1);
}

/** Lets the event loop look for what has arrived, so many times. */
export async function ticks(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Things that one side makes and the other waits for. */
function queue<Item>(): { readonly put: (item: Item) => void; readonly take: () => Promise<Item> } {
  const items: Item[] = [];
  let arrived: () => void = () => undefined;
  return {
    put: (item) => {
      items.push(item);
      arrived();
    },
    take: async () => {
      for (;;) {
        const item = items.shift();
        if (item !== undefined) return item;
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
    },
  };
}

export const head = (line: string, ...headers: string[]) =>
  [line, 'Host: 127.0.0.1', ...headers, '', ''].join('\r\n');
export const get = (target: string, ...headers: string[]) => head(`GET ${target} HTTP/1.1`, ...headers);
export const post = (body: string, ...headers: string[]) =>
  head('POST /x HTTP/1.1', `Content-Length: ${body.length}`, ...headers) + body;

/** A whole answer. */
export function give(response: HttpResponse, text: string): void {
  response.writeHead(200, ['content-length', String(text.length)]);
  response.end(Buffer.from(text, 'latin1'));
}
