import type { AddressInfo, Server } from 'node:net';
import { GatewayError } from '../errors.ts';

export interface Address {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/** Makes a server listen and resolves with its port. Throws port.busy, and config.invalid if the address is unusable. */
export function bind(server: Server, { host, port }: Address): Promise<number> {
  return new Promise((resolve, reject) => {
    // Stays after the start: an accept that fails (out of descriptors or memory) must not end the process.
    server.on('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EADDRINUSE') {
        return reject(new GatewayError('port.busy', `port ${port} on ${host} is taken`, { cause }));
      }
      reject(
        new GatewayError('config.invalid', `can't listen on ${host} port ${port}: ${cause.message}`, {
          cause,
        }),
      );
    });
    server.listen({ host, port, backlog: 4096 }, () => resolve((server.address() as AddressInfo).port));
  });
}

export function urlOf({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
