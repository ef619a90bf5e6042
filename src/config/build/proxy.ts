import { BlockList, isIP } from 'node:net';
import { isLoopbackHost } from '../../lib/loopback.ts';

/** What the environment says of proxies, as curl and others read it. */
export interface ProxyEnvironment {
  /** For hosts by https. */
  readonly https?: string;
  /** For hosts by http. */
  readonly http?: string;
  /** Hosts that are reached without. */
  readonly none?: string;
}

/** The names in lower case come first, as they do for curl. */
export function proxiesOf(env: Readonly<Record<string, string | undefined>>): ProxyEnvironment {
  const read = (name: string) => env[name.toLowerCase()] || env[name];
  const [https, http, none] = [read('HTTPS_PROXY'), read('HTTP_PROXY'), read('NO_PROXY')];
  return {
    ...(https && { https: withScheme(https) }),
    ...(http && { http: withScheme(http) }),
    ...(none && { none }),
  };
}

/** The proxy towards a host: the provider's own, none, or that of the environment; never towards this machine. */
export function proxyFor(
  { protocol, hostname, port }: URL,
  own: string | undefined,
  environment: ProxyEnvironment,
): string | undefined {
  if (own !== undefined) return own === 'none' ? undefined : own;
  const proxy = protocol === 'https:' ? environment.https : environment.http;
  const name = bare(hostname);
  if (proxy === undefined || isLocal(name)) return undefined;
  const host = { name, port: port || (protocol === 'https:' ? '443' : '80') };
  return (environment.none ?? '').split(/[\s,]+/).some((entry) => matches(entry, host)) ? undefined : proxy;
}

function matches(entry: string, host: { readonly name: string; readonly port: string }): boolean {
  if (entry === '*') return true;
  const [, name = entry, port] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
  if (port !== undefined && port !== host.port) return false;
  if (name.includes('/')) return isWithin(host.name, bare(name));
  const suffix = bare(name).replace(/^\*?\./, '');
  const version = isIP(suffix);
  if (version !== 0) return isWithin(host.name, `${suffix}/${version === 4 ? 32 : 128}`);
  return suffix !== '' && (host.name === suffix || host.name.endsWith(`.${suffix}`));
}

/** Whether an address, however it is written, is in a block such as 10.0.0.0/8. Names are not resolved for it. */
function isWithin(address: string, block: string): boolean {
  const [, start = '', length = ''] = /^\[?([^/\]]+)\]?\/(\d{1,3})$/.exec(block) ?? [];
  const [version, own] = [isIP(start), isIP(address)];
  if (version === 0 || own === 0 || Number(length) > (version === 4 ? 32 : 128)) return false;
  // A list also knows addresses of IPv4 within those of IPv6, which ::/0 doesn't mean.
  if (version > own && Number(length) < 96) return false;
  const blocks = new BlockList();
  blocks.addSubnet(start, Number(length), version === 4 ? 'ipv4' : 'ipv6');
  return blocks.check(address, own === 4 ? 'ipv4' : 'ipv6');
}

/** Without brackets, and without the dot at the end that a full name may have. */
function bare(name: string): string {
  return name.toLowerCase().replace(/^\[|\]$|\.+$/g, '');
}

function withScheme(proxy: string): string {
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/** Names below `localhost` never leave the machine either (RFC 6761, section 6.3). */
function isLocal(hostname: string): boolean {
  return isLoopbackHost(hostname) || /\.localhost$/i.test(hostname);
}
