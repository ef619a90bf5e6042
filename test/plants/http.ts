import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as openRequest } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { checkAnswer } from './contract.ts';

export interface Sent {
  readonly method?: string;
  /** After the store's address: `/plant/1`. */
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The loopback address to send from, where it matters who sends. */
  readonly from?: string;
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body of a JSON answer. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, after the contract's check
  readonly json: any;
}

/** Sends one request, exactly as given, and checks its answer against the OpenAPI document. */
export async function send(
  url: string,
  { method = 'GET', path, token, headers = {}, from, body }: Sent,
): Promise<Answered> {
  const base = new URL(url);
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const request = openRequest({
    hostname: base.hostname,
    port: base.port,
    path: `${base.pathname}${path}`,
    method,
    localAddress: from,
    agent: false,
    headers: {
      ...(text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
  });
  request.end(text);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const answer = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: await textOf(response),
  };
  const contentType = answer.headers['content-type'] ?? '';
  const seen = { method, path: `${base.pathname}${path.split('?')[0]}`, status: answer.status, contentType };
  checkAnswer({ ...seen, body: answer.text });
  const isJson = contentType === 'application/json' && method !== 'HEAD';
  return { ...answer, json: isJson ? JSON.parse(answer.text) : undefined };
}
