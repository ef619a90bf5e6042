import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { defaultListenLimits, type Listener, type ListenOptions, listen } from '../../src/http/listen.ts';
import type { HttpRequest } from '../../src/http/request.ts';
import type { HttpResponse } from '../../src/http/response.ts';
import { RawConnection } from './raw-connection.ts';
import { queue } from './serving.ts';

export interface Accepted {
  readonly client: RawConnection;
  /** The server's end. */
  readonly socket: Socket;
  readonly listener: Listener;
  /** The next request of the connection, for the test to answer. */
  readonly next: () => Promise<{ readonly request: HttpRequest; readonly response: HttpResponse }>;
}

/** One connection to a server of its own, both ends of which the test holds. */
export async function accept({ limits, ...options }: Partial<ListenOptions> = {}): Promise<Accepted> {
  const begun = queue<{ request: HttpRequest; response: HttpResponse }>();
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    limits: { ...defaultListenLimits, pipelined: 4, drainMs: 1_000, ...limits },
    onRequest: (request, response) => begun.put({ request, response }),
    ...options,
  });
  const accepted = queue<Socket>();
  const note = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    if (socket.localPort === listener.port) accepted.put(socket);
  };
  subscribe('net.server.socket', note);
  const client = new RawConnection(listener.port);
  const socket = await accepted.take();
  unsubscribe('net.server.socket', note);
  onTestFinished(async () => {
    client.end();
    socket.destroy();
    await listener.drain();
  });
  return { client, socket, listener, next: begun.take };
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
