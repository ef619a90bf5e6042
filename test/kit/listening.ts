import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { closeAtEnd } from './started.ts';

export interface Listening {
  readonly port: number;
  readonly url: string;
  /** The connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
  /** Ends them, and takes no more. */
  close(): Promise<void>;
}

/** Has a server of any kind listen on a free port of loopback, until the end of the file at the latest. */
export async function listening(server: Server, address = '127.0.0.1'): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  closeAtEnd(close);
  return { port, url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`, sockets, close };
}

/** The address of a port that nobody listens on. */
export async function deadUrl(): Promise<string> {
  const { url, close } = await listening(createServer());
  await close();
  return url;
}
