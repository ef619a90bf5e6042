import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { Provider, type ProviderOptions } from '../../src/providers/provider.ts';
import type { Target } from '../../src/providers/route.ts';

/** A provider's host that does what a test says, and counts what reaches it. */
export interface Host {
  readonly url: string;
  /** Requests whose head arrived (of a raw host: connections on which any byte arrived). */
  readonly requests: () => number;
  /** Waits until that many requests have arrived. */
  readonly reached: (count: number) => Promise<void>;
  /** Waits until that many connections have been closed. */
  readonly closed: (count: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

class Counter {
  value = 0;
  #waiting: (() => void)[] = [];

  add(): void {
    this.value += 1;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async until(count: number): Promise<void> {
    while (this.value < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse, number: number) => void;

/** An HTTP host; the answerer is told the number of the request, from 1. */
export async function startHost(answer: Answer): Promise<Host> {
  const requests = new Counter();
  const server = createHttpServer((request, response) => {
    requests.add();
    answer(request, response, requests.value);
  });
  return serve(server, requests);
}

/** A host that answers each connection's first bytes with what it likes, HTTP or not. */
export async function startRawHost(answer: (socket: Socket, number: number) => void): Promise<Host> {
  const requests = new Counter();
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      requests.add();
      answer(socket, requests.value);
    });
  });
  return serve(server, requests);
}

async function serve(server: Server, requests: Counter): Promise<Host> {
  const closed = new Counter();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      closed.add();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests.value,
    reached: (count) => requests.until(count),
    closed: (count) => closed.until(count),
    stop: async () => {
      const done = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await done;
    },
  };
}

/** The address of a port that nobody listens on. */
export async function deadUrl(): Promise<string> {
  const host = await startHost(() => undefined);
  await host.stop();
  return host.url;
}

export type Overrides = Partial<Omit<ProviderOptions, 'timeouts'>> & {
  readonly timeouts?: Partial<ProviderOptions['timeouts']>;
};

/** A provider of the chat dialect with limits that a test has not to wait for. */
export function makeProvider(baseUrl: string, { timeouts, ...rest }: Overrides = {}): Provider {
  return new Provider({
    name: 'host',
    dialect: 'openai',
    baseUrl,
    credentials: 'api_key',
    endpoints: new Set(['chat']),
    forwardHeaders: new Set(),
    timeouts: {
      connectMs: 5_000,
      headersMs: 20_000,
      idleMs: 20_000,
      totalMs: 20_000,
      queueMs: 20_000,
      ...timeouts,
    },
    connections: 8,
    retries: { attempts: 2, budget: 0.2 },
    breaker: { failures: 1_000, openMs: 30_000 },
    ...rest,
  });
}

export function target(provider: Provider, model = 'm'): Target {
  return { provider, model };
}
