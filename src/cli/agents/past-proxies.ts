import { isLoopbackHost } from '../../loopback.ts';

type Environment = Readonly<Record<string, unknown>>;

const local = ['127.0.0.1', 'localhost', '::1'];

/**
 * Variables that exempt the local gateway from proxies: otherwise a company's proxy would get the project key and every
 * prompt, and answer in the gateway's place. They are set even without a proxy in the environment, since agents also
 * read proxies from their settings files. None if the gateway is elsewhere, or every host is exempt.
 */
export function pastProxies(gatewayUrl: string, env: Environment): Readonly<Record<string, string>> {
  const host = hostOf(gatewayUrl);
  const exempt = entriesOf(env.no_proxy || env.NO_PROXY);
  if (!isLoopbackHost(host) || exempt.includes('*')) return {};
  const list = [...new Set([...exempt, ...local, host])].join(',');
  // Some clients read one, some the other.
  return { NO_PROXY: list, no_proxy: list };
}

/** Whether an agent with these variables sends its requests for a local gateway through a proxy. */
export function usesProxy(gatewayUrl: string, env: Environment): boolean {
  const host = hostOf(gatewayUrl);
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const exemptions = [env.NO_PROXY, env.no_proxy].filter((value) => value !== undefined).map(entriesOf);
  return (
    isLoopbackHost(host) &&
    proxies.some((name) => (env[name] ?? '') !== '') &&
    (exemptions.length === 0 || exemptions.some((exempt) => !exempt.includes('*') && !exempt.includes(host)))
  );
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

function entriesOf(list: unknown): readonly string[] {
  return String(list ?? '')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
}
