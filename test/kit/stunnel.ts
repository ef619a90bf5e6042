import { join } from 'node:path';
import type { Identity } from './certificate.ts';
import { homeWith } from './own-configuration.ts';
import { freePort } from './ports.ts';
import { isInstalled, startRealProgram } from './real-program.ts';

export const hasStunnel = isInstalled('stunnel4');

interface Options {
  /** Where what has no TLS of its own listens: a port of an address, or a socket. */
  readonly before: string;
  readonly identity: Identity;
  /** How its clients ask for TLS, where a connection doesn't begin with it. */
  readonly protocol?: 'pgsql';
}

/** TLS by stunnel on a port of loopback, until the end of the file. */
export async function startStunnel({ before, identity, protocol }: Options): Promise<number> {
  const port = await freePort();
  const settings = [
    'foreground = yes',
    'pid =',
    'debug = err',
    '[service]',
    `accept = 127.0.0.1:${port}`,
    `connect = ${before}`,
    'cert = identity.pem',
    ...(protocol === undefined ? [] : [`protocol = ${protocol}`]),
  ];
  const folder = homeWith({
    'stunnel.conf': `${settings.join('\n')}\n`,
    'identity.pem': identity.cert + identity.key,
  });
  await startRealProgram(['stunnel4', join(folder, 'stunnel.conf')], port, { cwd: folder });
  return port;
}
