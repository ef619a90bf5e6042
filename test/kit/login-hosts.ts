import { createServer as createProxy, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { makeAuthority } from './certificate.ts';
import { closeAtEnd } from './started.ts';

/** What is asked of a login host, and the answer: a text that is no JSON is sent as XML, undefined is silence. */
export type Login = (asked: {
  readonly host: string;
  readonly path: string;
  readonly body: URLSearchParams;
}) => readonly [status: number, answer: unknown] | undefined;

export interface LoginHosts {
  /** For hosts that can be set, as AWS' and metadata servers can. */
  readonly url: string;
  /** Stands for all other hosts, for clients that use it as their HTTPS proxy and check no certificate. */
  readonly proxy: string;
  script(login: Login): void;
  /** How often they were asked. */
  readonly asked: () => number;
  close(): Promise<void>;
}

/** The vendors' login hosts and metadata servers on loopback, one script for all. */
export async function startLoginHosts(): Promise<LoginHosts> {
  let login: Login = () => undefined;
  let asked = 0;
  const onRequest: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    asked += 1;
    const answer = login({
      host: request.headers.host ?? '',
      path: request.url ?? '',
      body: new URLSearchParams(Buffer.concat(chunks).toString()),
    });
    if (answer === undefined) return;
    const [status, value] = answer;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const type =
      typeof value !== 'string' ? 'application/json' : text.startsWith('<') ? 'text/xml' : 'text/plain';
    response.writeHead(status, { 'content-type': type, 'metadata-flavor': 'Google' }).end(text);
  };
  const secure = createServer(makeAuthority('logins').issue(['localhost']), onRequest);
  const plain = createProxy(onRequest);
  // Those that a client has turned into tunnels are no longer among the server's own.
  const sockets = new Set<Socket>();
  plain.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  plain.on('connect', (_request, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    secure.emit('connection', socket);
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      plain.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  closeAtEnd(close);
  return {
    url,
    proxy: url,
    script: (next) => {
      login = next;
    },
    asked: () => asked,
    close,
  };
}
