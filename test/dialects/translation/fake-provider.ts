import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeProvider {
  readonly url: string;
  /** What every request is answered with until the next call. */
  answer(body: string, contentType: string, status?: number): void;
  close(): Promise<void>;
}

/** A server on loopback that gives prepared answers to the official SDKs. */
export async function startFakeProvider(): Promise<FakeProvider> {
  let next = { body: '', contentType: 'application/json', status: 200 };
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(next.status, { 'content-type': next.contentType, 'x-should-retry': 'false' });
      response.end(next.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answer(body, contentType, status = 200) {
      next = { body, contentType, status };
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
