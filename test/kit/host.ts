import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeAtEnd } from './started.ts';

/** One request as it reached the host. */
export interface HostRequest {
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

export interface ScriptedHost {
  readonly url: string;
  readonly requests: readonly HostRequest[];
  /** How the next requests are answered. */
  script(answer: Script): void;
  /** The request after those that have come so far. */
  next(): Promise<HostRequest>;
  close(): Promise<void>;
}

/** A provider on loopback that keeps what it was sent, byte for byte, and answers as it is told. */
export async function startHost(first: Script): Promise<ScriptedHost> {
  const requests: HostRequest[] = [];
  let waiting: ((request: HostRequest) => void)[] = [];
  let answer = first;
  const server = createServer((request, response) => {
    void receive(request, response).then((received) => {
      requests.push(received);
      const told = waiting;
      waiting = [];
      for (const tell of told) tell(received);
      return answer(response, received);
    });
  });
  // After a pause of some seconds, as on a busy machine, it would close a connection on which a request has just come.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  closeAtEnd(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script: (next) => {
      answer = next;
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
    close,
  };
}

/** The JSON of the latest request. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape
export function lastBody({ requests }: Pick<ScriptedHost, 'requests'>): any {
  return JSON.parse(requests.at(-1)?.body.toString() ?? '');
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<HostRequest> {
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
