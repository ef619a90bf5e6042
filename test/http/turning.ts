import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';

/** Stops the clock: whoever comes has come right behind the one before, and no work takes long. */
export function holdClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

/** Lets the clock go on, as if there had been work or a rest of that long, in milliseconds. */
export function pass(ms: number): void {
  vi.advanceTimersByTime(ms);
}

/** Lets the loop go on to the end of its turn, where those who wait have been served. */
export function turnsEnd(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The two ends of a connection. */
export async function pair(): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const server = createServer({ noDelay: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const far = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
  const [near] = (await accepted) as [Socket];
  for (const socket of [near, far]) socket.on('error', () => undefined);
  onTestFinished(async () => {
    far.destroy();
    near.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { near, far };
}

/** The pieces in which bytes come at a socket. */
export function hear(socket: Socket): { readonly pieces: string[]; until(text: string): Promise<void> } {
  const pieces: string[] = [];
  socket.on('data', (bytes: Buffer) => pieces.push(bytes.toString('latin1')));
  const until = async (text: string) => {
    while (pieces.join('').length < text.length) await once(socket, 'data');
  };
  return { pieces, until };
}
