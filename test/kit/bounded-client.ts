import { type IncomingMessage, request } from 'node:http';
import type { TestGateway } from './gateway.ts';

/** An answer of which only the ends are kept, however long it was. */
export interface BoundedAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly length: number;
  readonly start: string;
  readonly tail: string;
  /** Whether the framing said that this was all; a cut answer is not whole. */
  readonly isWhole: boolean;
  readonly elapsedMs: number;
}

const keptBytes = 64 * 1024;

/** Posts JSON on a connection of its own and reads the answer to its end, or to where it is cut. */
export function postBounded(gateway: TestGateway, path: string, value: object): Promise<BoundedAnswer> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port: gateway.port,
        path,
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      },
      (response) => {
        let length = 0;
        let start = '';
        let tail = Buffer.alloc(0);
        response.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (start.length < keptBytes) start += chunk.toString('latin1').slice(0, keptBytes);
          tail = Buffer.concat([tail, chunk]).subarray(-keptBytes);
        });
        response.on('error', () => undefined); // a cut answer is what many of these are about
        response.on('close', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            length,
            start,
            tail: tail.toString(),
            isWhole: response.complete,
            elapsedMs: performance.now() - startedAt,
          });
        });
      },
    );
    call.on('error', reject);
    call.end(JSON.stringify(value));
  });
}
