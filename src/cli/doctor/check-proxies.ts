import { connect } from 'node:net';
import { proxiesOf } from '../../config/build/proxy.ts';
import type { Io } from '../shell/io.ts';
import { about, type Finding } from './finding.ts';

const { ok, warning, error } = about('proxy');

/** Checks the environment's proxies: whether they answer, and whether clients would send local calls through them. */
export async function checkProxies({ env }: Io, timeoutMs: number): Promise<readonly Finding[]> {
  const { http, https, none = '' } = proxiesOf(env);
  const proxies = [...new Set([https, http].filter((proxy) => proxy !== undefined))];
  const findings = await Promise.all(proxies.map((proxy) => checkProxy(proxy, timeoutMs)));
  const all = env.ALL_PROXY || env.all_proxy;
  if (all && proxies.length === 0) {
    findings.push(
      warning('ALL_PROXY is set, which the gateway does not use', 'set HTTPS_PROXY and HTTP_PROXY'),
    );
  }
  const spared = none.split(/[\s,]+/);
  if (http !== undefined && !spared.includes('*') && !spared.includes('127.0.0.1')) {
    findings.push(
      warning(
        'HTTP_PROXY catches calls to 127.0.0.1 too, where clients have no exception of their own',
        `export NO_PROXY=${[none, '127.0.0.1', 'localhost'].filter((name) => name !== '').join(',')} (gateway run does)`,
      ),
    );
  }
  return findings;
}

async function checkProxy(text: string, timeoutMs: number): Promise<Finding> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return error(
      'HTTPS_PROXY or HTTP_PROXY is not the URL of an http or https proxy',
      'write http://HOST:PORT',
    );
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const code = await connectTo({ host: url.hostname.replace(/^\[|\]$/g, ''), port }, timeoutMs);
  if (code === undefined) return ok(`${url.host} accepts connections`);
  return error(`${url.host} can't be reached (${code})`, 'check HTTPS_PROXY and HTTP_PROXY, or unset them');
}

/** Why no connection can be made; undefined if one can. */
function connectTo(address: { host: string; port: number }, timeoutMs: number): Promise<string | undefined> {
  const socket = connect(address);
  return new Promise<string | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined));
    socket.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
    socket.setTimeout(timeoutMs, () => resolve('no answer'));
  }).finally(() => socket.destroy());
}
