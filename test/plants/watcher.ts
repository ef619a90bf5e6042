import { once } from 'node:events';
import { WebSocket } from 'ws';
import { checkEvent } from './contract.ts';

export interface TestWatcher {
  readonly socket: WebSocket;
  /** Everything received so far; each was checked against the AsyncAPI document. */
  readonly events: readonly Record<string, unknown>[];
  send(message: unknown): void;
  /** Resolves when the store has read everything sent so far. */
  settled(): Promise<void>;
  /** Resolves when so many events have come. */
  received(count: number): Promise<void>;
  /** The code of the close. */
  closed(): Promise<number>;
  close(): Promise<void>;
}

/** Opens a WebSocket to the store's events, with headers as given. */
export async function openWatcher(url: string, headers: Record<string, string>): Promise<TestWatcher> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/plants`, { headers });
  const events: Record<string, unknown>[] = [];
  const faults: unknown[] = [];
  const closing = new Promise<number>((resolve) => socket.on('close', resolve));
  socket.on('message', (data) => {
    const event: unknown = JSON.parse(String(data));
    try {
      checkEvent(event);
    } catch (error) {
      faults.push(error);
    }
    events.push(event as Record<string, unknown>); // an object, or checkEvent has complained
    socket.emit('received');
  });
  await once(socket, 'open');
  socket.on('error', () => undefined);
  return {
    socket,
    events,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    settled: async () => {
      const pong = once(socket, 'pong');
      socket.ping();
      await pong;
    },
    received: async (count) => {
      while (events.length < count) await once(socket, 'received');
      if (faults.length > 0) throw faults[0];
    },
    closed: () => closing,
    close: async () => {
      socket.close();
      await closing;
      if (faults.length > 0) throw faults[0];
    },
  };
}

/** Opens one with a session, and sends messages that the store has read when this resolves. */
export async function watch(
  { url, token }: { readonly url: string; readonly token: string },
  ...messages: readonly unknown[]
): Promise<TestWatcher> {
  const watcher = await openWatcher(url, { authorization: `Bearer ${token}` });
  for (const message of messages) watcher.send(message);
  await watcher.settled();
  return watcher;
}

/** The status and body with which the store refuses a handshake. */
export async function refusedWatcher(
  url: string,
  headers: Record<string, string>,
): Promise<{ readonly status: number; readonly reason: string }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/plants`, { headers });
  const [, response] = await once(socket, 'unexpected-response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, reason: JSON.parse(text).error.reason };
}
