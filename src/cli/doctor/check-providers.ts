import { connect } from 'node:net';
import { causesOf, connectionFault, type Fault } from '../../client/connection-fault.ts';
import { type ProviderConfig, withEachKey } from '../../config/build/providers.ts';
import { proxiesOf } from '../../config/build/proxy.ts';
import type { Config } from '../../config/config.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { isAboutScope, parseFailure } from '../../dialects/failure.ts';
import { parseJson } from '../../dialects/fields.ts';
import { targetOf } from '../../dialects/model-path.ts';
import { dialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import { createTextScrubber } from '../../gateway/scrub.ts';
import { messageOfError } from '../../lib/message-of.ts';
import { type FetchedResponse, fetchAnswer } from '../../providers/fetch-json.ts';
import { labelOf, Provider } from '../../providers/provider.ts';
import { ProxyError } from '../../providers/transport/connect.ts';
import { providerOptions } from '../../server/gateway-config.ts';
import type { Io } from '../shell/io.ts';
import { about, type Diagnosis } from './finding.ts';

const { ok, warning, error } = about('proxy');

/** Checks the environment's proxies: whether they answer, and whether clients would send local calls through them. */
export async function checkProxies({ env }: Io, timeoutMs: number): Promise<readonly Diagnosis[]> {
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

async function checkProxy(text: string, timeoutMs: number): Promise<Diagnosis> {
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

/** Makes the cheapest call to every provider that needs credentials, as the gateway itself would. */
export async function checkProviders(config: Config, timeoutMs: number): Promise<readonly Diagnosis[]> {
  const checks = [...config.providers.values()]
    .flatMap(withEachKey)
    .map((provider) => checkProvider(provider, { timeoutMs, model: modelAt(config, provider.name) }));
  return (await Promise.all(checks)).flat();
}

/** A model that is asked for there; what an account may use can be limited to some. */
function modelAt({ models }: Config, provider: string): string | undefined {
  return models
    .flatMap(({ match, isPattern, targets }) =>
      targets.map(({ model = isPattern ? undefined : match, ...target }) => ({ ...target, model })),
    )
    .find((target) => target.provider === provider && target.model !== undefined)?.model;
}

interface Check {
  readonly timeoutMs: number;
  readonly model: string | undefined;
}

async function checkProvider(config: ProviderConfig, { timeoutMs, model }: Check): Promise<Diagnosis[]> {
  const { ok, warning, error } = about(`provider ${labelOf(config)}`);
  if (!config.isConfigured) {
    const reason = config.disabledBecause ?? 'it is not configured';
    return [warning(`not in use: ${reason}`, 'set what is missing, or remove the provider from the file')];
  }
  const [options] = providerOptions(config, undefined);
  if (options === undefined) return [ok('built in')];
  const provider = new Provider(options);
  try {
    const startedMs = Date.now();
    const limits = { timeoutMs, limitBytes: 4 * 1024 * 1024, ...(model !== undefined && { model }) };
    const answer = await askCheaply(provider, limits);
    const ms = Date.now() - startedMs;
    const clock = checkClock(answer, { startedMs, endedMs: Date.now(), name: config.name });
    if (config.credentials === 'client' && answer.status < 500) {
      return [ok(`${options.baseUrl} answers in ${ms} ms; it takes the client's own login`), ...clock];
    }
    const fault = faultOfAnswer(answer, config);
    if (fault !== undefined) return [error(...fault), ...clock];
    const route = config.proxy === undefined ? '' : ' through a proxy';
    return [ok(`${options.baseUrl} answers in ${ms} ms${route}`), ...clock];
  } catch (thrown) {
    return [error(...faultOfConnection(thrown, config))];
  } finally {
    provider.close();
  }
}

interface Checked extends FetchedResponse {
  /** It is the answer to an empty request, which says only whether the credentials are accepted. */
  readonly isProbe?: boolean;
}

/**
 * The list of models, or the answer to an empty request if there is no list or the key may not read it. Neither costs
 * anything.
 */
async function askCheaply(provider: Provider, limits: Parameters<typeof fetchAnswer>[2]): Promise<Checked> {
  const list = provider.listsModels ? await fetchAnswer(provider, '/v1/models', limits) : undefined;
  if (list !== undefined && list.status !== 404 && !lacksScope(list)) return list;
  const [endpoint = 'messages'] = provider.options.endpoints;
  const dialect: Dialect =
    Object.entries(dialects).find(([name]) => name === endpoint)?.[1] ?? dialects.messages;
  const path = targetOf(dialect.methods[0], limits.model ?? 'none');
  const probe = await fetchAnswer(provider, path, { ...limits, body: Buffer.from('{}') });
  const isUnknown = list?.status === 404 && probe.status === 404 && provider.authorizer === undefined;
  return isUnknown ? list : { ...probe, isProbe: true };
}

/** Whether the host accepts the key, but the key lacks the permission for this request. */
function lacksScope({ status, body }: FetchedResponse): boolean {
  if (status !== 401 && status !== 403) return false;
  const text = body.toString();
  return isAboutScope(parseJson(text) ?? text);
}

function faultOfAnswer(
  answer: Checked,
  { baseUrl, dialect, apiKey, keyName, credentials }: ProviderConfig,
): Fault | undefined {
  const { status, body, secrets, isProbe } = answer;
  if (status === 401 || status === 403) {
    const said = saidIn(body, secrets);
    const what = `(${status})${said === '' ? '' : `: ${said}`}`;
    if (lacksScope(answer))
      return [
        `${baseUrl} accepts the key, which may not ask a model ${what}`,
        'give the key that permission, or use another one',
      ];
    return [
      `${baseUrl} rejects the credentials ${what}`,
      apiKey === undefined && credentials !== 'api_key'
        ? 'log in again, and check what the account may use in this region or project'
        : `set the variable that ${keyName === undefined ? 'its api_key' : `api_keys.${keyName}`} names to a valid key`,
    ];
  }
  if (status === 429) return undefined; // the key was accepted
  if (status >= 500) return [`${baseUrl} answers ${status}`, 'wait, or ask whoever runs it'];
  if (isProbe === true && (status < 300 || status >= 400)) return undefined;
  const wanted = dialect === 'anthropic' ? 'without /v1 at its end' : 'usually with /v1 at its end';
  if (status >= 300)
    return [`${baseUrl} has no list of models (${status})`, `check base_url, which is given ${wanted}`];
  return isList(body)
    ? undefined
    : [
        `${baseUrl} answers something other than a list of models`,
        `check base_url (${wanted}), and whether a login page of the network answers`,
      ];
}

/** The first line of what the host says, without secrets; behind it AWS repeats what was signed. */
function saidIn(body: Buffer, secrets: readonly string[]): string {
  const text = body.toString();
  const { message } = parseFailure(parseJson(text) ?? text, 401);
  if (message.startsWith('the provider answered')) return '';
  const [line = ''] = message.split('\n', 1);
  return createTextScrubber(secrets)(line).slice(0, 200);
}

function isList(body: Buffer): boolean {
  const value = parseJson(body.toString());
  return typeof value === 'object' && value !== null && ('data' in value || 'models' in value);
}

function faultOfConnection(thrown: unknown, { baseUrl = '', proxy, timeouts }: ProviderConfig): Fault {
  if (thrown instanceof GatewayError && thrown.code === 'provider.credentials_missing') {
    const [, what = thrown.message, remedy = ''] =
      /^provider [^:]+: ([^:]+): (.+)$/.exec(thrown.message) ?? [];
    return [what, remedy];
  }
  const via = proxy === undefined ? '' : ` through the proxy ${new URL(proxy).host}`;
  const ofProxy = causesOf(thrown).find((one) => one instanceof ProxyError);
  if (ofProxy !== undefined) return faultOfProxy(ofProxy, `${baseUrl}${via}`);
  const fault = connectionFault(thrown, { setting: 'base_url', trust });
  if (fault !== undefined) return [`${baseUrl}${via}: ${fault[0]}`, fault[1]];
  const text = messageOfError(causesOf(thrown).at(-1) ?? thrown);
  const isLate = thrown instanceof GatewayError && thrown.code === 'provider.timeout';
  return [
    `${baseUrl}${via}: ${text}`,
    isLate
      ? `check the network; the gateway waits ${timeouts.connectMs} ms for a connection`
      : 'check base_url and the network',
  ];
}

function faultOfProxy({ message, cause }: ProxyError, way: string): Fault {
  const setting = 'proxy or HTTPS_PROXY';
  const fault = connectionFault(cause, { setting, trust });
  if (fault !== undefined) return [`${way}: of the proxy itself: ${fault[0]}`, fault[1]];
  if (cause !== undefined) return [`${way}: ${message}`, `check host and port of ${setting}`];
  const remedy = message.endsWith('(407)')
    ? `check user and password of ${setting}`
    : 'let the proxy allow CONNECT to this host and port (Squid: SSL_ports), or reach the host without it: proxy: none';
  return [`${way}: ${message}`, remedy];
}

const trust = "set ca_file to the authority's certificate, if your own host or a company's proxy uses it";

/** Seconds; beyond this, certificates, expiry dates and daily budgets are checked against the wrong time. */
const toleranceMs = 60_000;

interface Asked {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly name: string;
}

/** The Date header has whole seconds, and was made between question and answer. */
function checkClock({ headers }: FetchedResponse, { startedMs, endedMs, name }: Asked): Diagnosis[] {
  const theirMs = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(theirMs)) return [];
  const offMs = theirMs < startedMs ? startedMs - theirMs : Math.max(0, theirMs - endedMs);
  if (offMs <= toleranceMs) return [];
  const direction = theirMs < startedMs ? 'ahead of' : 'behind';
  const seconds = Math.round(offMs / 1_000);
  return [
    about('clock').error(
      `this machine's clock is ${seconds} s ${direction} that of ${name}`,
      'set it by NTP: timedatectl set-ntp true',
    ),
  ];
}
