import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Listening, listening } from './listening.ts';

/** One request as it reached the host. */
export interface HostRequest {
  /** Which one it was, from 1. */
  readonly number: number;
  readonly method: string;
  readonly target: string;
  /** Names in lower case, in the order they came. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  readonly sha256: string;
  /** Settles when the answer has been sent whole or its connection is gone; says which. */
  readonly ended: Promise<'whole' | 'gone'>;
}

export type Script = (response: ServerResponse, request: HostRequest) => unknown;

export interface ScriptedHost extends Pick<Listening, 'url' | 'close'> {
  readonly requests: readonly HostRequest[];
  /** How the next requests are answered. */
  script(answer: Script): void;
  /** The request after those that have come so far. */
  next(): Promise<HostRequest>;
  /** Waits until that many requests have come. */
  reached(count: number): Promise<void>;
  /** Waits until that many connections have been closed. */
  closed(count: number): Promise<void>;
}

/** A provider on loopback that keeps what it was sent, byte for byte, and answers as it is told. */
export async function startHost(first: Script): Promise<ScriptedHost> {
  const requests: HostRequest[] = [];
  const arrivals = new EventEmitter();
  let closed = 0;
  let answer = first;
  const server = createServer((request, response) => {
    void receive(request, response).then((whole) => {
      const received = { ...whole, number: requests.length + 1 };
      requests.push(received);
      arrivals.emit('request', received);
      return answer(response, received);
    });
  });
  // After a pause of some seconds, as on a busy machine, it would close a connection on which a request has just come.
  server.keepAliveTimeout = 0;
  server.on('connection', (socket: Socket) =>
    socket.on('close', () => {
      closed += 1;
      arrivals.emit('closed');
    }),
  );
  const { url, close } = await listening(server);
  return {
    url,
    close,
    requests,
    script: (next) => {
      answer = next;
    },
    next: async () => (await once(arrivals, 'request'))[0] as HostRequest,
    reached: async (count) => {
      while (requests.length < count) await once(arrivals, 'request');
    },
    closed: async (count) => {
      while (closed < count) await once(arrivals, 'closed');
    },
  };
}

/** The JSON of the latest request. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape
export function lastBody({ requests }: Pick<ScriptedHost, 'requests'>): any {
  return JSON.parse(requests.at(-1)?.body.toString() ?? '');
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Omit<HostRequest, 'number'>> {
  const ended = new Promise<'whole' | 'gone'>((resolve) => {
    response.once('close', () => resolve(response.writableFinished ? 'whole' : 'gone'));
  });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const raw = request.rawHeaders;
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    headers: raw.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1] ?? ''] as const] : [])),
    body,
    sha256: sha256(body),
    ended,
  };
}

export function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
