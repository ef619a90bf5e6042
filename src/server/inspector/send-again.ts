import { request } from 'node:http';
import { GatewayError } from '../../errors.ts';
import type { SentAgain } from '../../inspector/backend.ts';
import type { SendAgainAnswer } from '../../inspector/contract/actions.ts';
import { version } from '../../version.ts';

/** Most bytes of an answer that are read; the live page shows what the ring kept of it. */
const answerLimitBytes = 64 * 1024 * 1024;

/** Sends a request to the gateway itself, over its own port; resolves when the head of the answer is here. */
export function sendToSelf(
  url: string,
  pass: string,
  { path, headers, body }: SentAgain,
): Promise<SendAgainAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sending = request(
      {
        host: hereOf(hostname),
        port,
        path,
        method: 'POST',
        agent: false,
        headers: {
          ...headers,
          'user-agent': `gateway-inspector/${version}`,
          authorization: `Bearer ${pass}`,
          'content-type': 'application/json',
          'content-length': body.length,
        },
      },
      (response) => {
        let read = 0;
        response.on('data', (piece: Buffer) => {
          read += piece.length;
          if (read > answerLimitBytes) response.destroy();
        });
        response.on('error', () => undefined); // the list shows that the answer was cut
        resolve({ id: String(response.headers['x-request-id'] ?? ''), status: response.statusCode ?? 0 });
      },
    );
    sending.on('error', (cause) =>
      reject(
        new GatewayError('gateway.unreachable', 'the gateway did not answer its own request', { cause }),
      ),
    );
    sending.end(body);
  });
}

/** The loopback address for a server that listens on all addresses. */
function hereOf(hostname: string): string {
  if (hostname === '0.0.0.0') return '127.0.0.1';
  return hostname === '[::]' ? '::1' : hostname.replace(/^\[|\]$/g, '');
}
