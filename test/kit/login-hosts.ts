import { createServer as createProxy, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { makeAuthority } from './certificate.ts';
import { listening } from './listening.ts';

/** What is asked of a login host, and the answer: a text that is no JSON is sent as XML, undefined is silence. */
export type Login = (asked: {
  readonly host: string;
  readonly path: string;
  readonly body: URLSearchParams;
}) => readonly [status: number, answer: unknown] | undefined;

export interface LoginHosts {
  /** For hosts that can be set, and the proxy of clients that check no certificate, for all others. */
  readonly url: string;
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
  plain.on('connect', (_request, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    secure.emit('connection', socket);
  });
  const { url, close } = await listening(plain);
  return {
    url,
    script: (next) => {
      login = next;
    },
    asked: () => asked,
    close,
  };
}
