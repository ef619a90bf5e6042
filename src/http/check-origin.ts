import { isIP } from 'node:net';
import { GatewayError } from '../errors.ts';
import { isLoopbackHost } from '../lib/loopback.ts';
import { memoize } from '../lib/memoize.ts';
import type { HttpRequest } from './request.ts';

export interface AllowedOrigins {
  readonly allowedHosts: ReadonlySet<string>;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Whether Host may be any IP address: names can be made to point here (DNS rebinding), addresses can't. */
  readonly allowsAddresses?: boolean;
}

/**
 * What may be in Host at a server that listens at `host`: where it listens, and the configured names. Where others can
 * reach it, any address of it.
 */
export function hostsAt(
  host: string,
  allowedHosts: ReadonlySet<string>,
): Pick<AllowedOrigins, 'allowedHosts' | 'allowsAddresses'> {
  return {
    allowedHosts: new Set([...allowedHosts, host.toLowerCase()]),
    allowsAddresses: !isLoopbackHost(host),
  };
}

const isLoopback = memoize((host) => isLoopbackHost(nameIn(host)));

/**
 * Refuses what a web page could make a browser send: a foreign Host (DNS rebinding), and an Origin that is not allowed.
 * Throws host.not_allowed or origin.not_allowed.
 */
export function checkOrigin(request: Pick<HttpRequest, 'header'>, allowed: AllowedOrigins): void {
  const host = request.header('host');
  const { allowedHosts, allowsAddresses = false } = allowed;
  const isOurs =
    host !== undefined &&
    (isLoopback(host) || allowedHosts.has(nameIn(host)) || (allowsAddresses && isAddress(host)));
  if (!isOurs) {
    throw new GatewayError(
      'host.not_allowed',
      'the Host header names neither a loopback address nor a name in server.allowed_hosts',
    );
  }
  checkOriginAlone(request, allowed);
}

/** The second half of that, for what a page of any host may learn. Throws origin.not_allowed. */
export function checkOriginAlone(
  request: Pick<HttpRequest, 'header'>,
  { allowedOrigins }: Pick<AllowedOrigins, 'allowedOrigins'>,
): void {
  const host = request.header('host');
  const origin = request.header('origin');
  if (origin === undefined || allowedOrigins.has(origin)) return;
  if (origin === `http://${host}` || origin === `https://${host}`) return;
  throw new GatewayError('origin.not_allowed', 'web pages of this origin may not call the gateway');
}

function isAddress(host: string): boolean {
  return isIP(nameIn(host).replace(/^\[|\]$/g, '')) !== 0;
}

/** A Host header's value without its port. */
function nameIn(host: string): string {
  return host.replace(/:\d{1,5}$/, '').toLowerCase();
}
