import { onTestFinished } from 'vitest';
import { defaultListenLimits, type Listener, listen } from '../../src/http/listen.ts';
import type { HttpRequest } from '../../src/http/request.ts';
import type { HttpResponse } from '../../src/http/response.ts';
import { RawConnection } from './raw-connection.ts';

interface Begun {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
}

export interface Serving {
  readonly listener: Listener;
  /** A client on a connection of its own. */
  readonly open: () => RawConnection;
  /** The next request that arrives, for the test to answer. */
  readonly next: () => Promise<Begun>;
}

/** A server for one test, which answers by itself. */
export async function serve(): Promise<Serving> {
  const { put, take } = queue<Begun>();
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    limits: { ...defaultListenLimits, drainMs: 1_000 },
    onRequest: (request, response) => put({ request, response }),
  });
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

/** Things that one side makes and the other waits for. */
export function queue<Item>(): { readonly put: (item: Item) => void; readonly take: () => Promise<Item> } {
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
