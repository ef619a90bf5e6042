import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { commonHeaders } from '../http/respond.ts';

/** What an operation answers with; always 200, as everything else is a thrown error. */
export interface Answer {
  readonly type: string;
  readonly body: string;
  readonly headers?: OutgoingHttpHeaders;
}

// Answers may be about a login, and the address of a login may hold a password: nothing keeps either.
export const privacyHeaders = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } as const;

export function jsonAnswer(value: unknown, headers: OutgoingHttpHeaders = {}): Answer {
  return { type: 'application/json', body: JSON.stringify(value), headers };
}

export function sendAnswer(
  response: ServerResponse,
  { type, body, headers }: Answer,
  requestId: string,
): void {
  response.writeHead(200, {
    ...commonHeaders(requestId),
    ...privacyHeaders,
    ...headers,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
