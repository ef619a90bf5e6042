import { lookup } from 'node:dns';
import type { AddressInfo, Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { GatewayError } from '../errors.ts';

export interface Address {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/** Makes a server listen and resolves with its port. Throws port.busy, and config.invalid if the address is unusable. */
export async function bind(server: Server, { host, port }: Address): Promise<number> {
  if (host.includes('%')) {
    const message = `can't listen on ${host}: URLs have no place for its zone; take an address without one`;
    throw new GatewayError('config.invalid', message);
  }
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
    // IPv4 first: where only loopback has IPv6, other programs are given no IPv6 address for localhost.
    lookup(host, { order: 'ipv4first' }, (cause, address) => {
      if (cause !== null) return void server.emit('error', cause);
      const done = () => resolve((server.address() as AddressInfo).port);
      server.listen({ host: address, port, backlog: 4096 }, done);
    });
  });
}

/** Where this machine reaches what listens there. */
export function urlOf({ host, port }: Address): string {
  return `http://${reachableHost(host)}:${port}`;
}

/**
 * The host at which this machine reaches a server that listens at `host`, as URLs have it: for all addresses of the
 * machine, however they are spelled, a loopback address.
 */
export function reachableHost(host: string): string {
  const written = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  switch (URL.canParse(`http://${written}`) ? new URL(`http://${written}`).hostname : written) {
    case '0.0.0.0':
    case '[::ffff:0:0]':
      return '127.0.0.1';
    case '[::]':
      return hasIpv6() ? '[::1]' : '127.0.0.1'; // containers may lack ::1, and a server at :: takes both
    default:
      return written;
  }
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
}
