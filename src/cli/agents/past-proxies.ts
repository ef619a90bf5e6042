type Environment = Readonly<Record<string, string | undefined>>;

const local = ['127.0.0.1', 'localhost', '::1'];

/**
 * Variables that exempt the local gateway from the environment's proxy: otherwise a company's proxy would get the
 * project key and every prompt, and answer in the gateway's place. None if there is no proxy, or the gateway is
 * elsewhere.
 */
export function pastProxies(gatewayUrl: string, env: Environment): Readonly<Record<string, string>> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const hasProxy = names.some((name) => (env[name] ?? '') !== '');
  const host = new URL(gatewayUrl).hostname.replace(/^\[|\]$/g, '');
  if (!hasProxy || !(local.includes(host) || host.startsWith('127.'))) return {};
  const spared = (env.no_proxy || env.NO_PROXY || '').split(/[\s,]+/).filter((entry) => entry !== '');
  if (spared.includes('*')) return {};
  const list = [...new Set([...spared, ...local, host])].join(',');
  // Some clients read one, some the other.
  return { NO_PROXY: list, no_proxy: list };
}
