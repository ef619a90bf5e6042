import type { ProviderConfig } from '../../config/build/providers.ts';
import type { Config } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import { type FetchedAnswer, fetchAnswer } from '../../providers/fetch-json.ts';
import { Provider } from '../../providers/provider.ts';
import { providerOptions } from '../../server/gateway-config.ts';
import { causesOf, connectionFault, type Fault } from './connection-faults.ts';
import { about, type Finding } from './finding.ts';

/** Requests every provider's model list, the cheapest call that needs credentials, as the gateway itself would. */
export async function checkProviders(config: Config, timeoutMs: number): Promise<readonly Finding[]> {
  const checks = [...config.providers.values()].map((provider) => checkProvider(provider, timeoutMs));
  return (await Promise.all(checks)).flat();
}

async function checkProvider(config: ProviderConfig, timeoutMs: number): Promise<Finding[]> {
  const { ok, warning, error } = about(`provider ${config.name}`);
  if (!config.isConfigured) {
    const reason = config.disabledBecause ?? 'it is not configured';
    return [warning(`not in use: ${reason}`, 'set what is missing, or remove the provider from the file')];
  }
  const options = providerOptions(config, undefined);
  if (options === undefined) return [ok('built in')];
  const provider = new Provider(options);
  try {
    const startedMs = Date.now();
    const limits = { timeoutMs, limitBytes: 4 * 1024 * 1024 };
    const answer = await fetchAnswer(provider, '/v1/models', limits);
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

function faultOfAnswer(
  { status, body }: FetchedAnswer,
  { baseUrl, dialect }: ProviderConfig,
): Fault | undefined {
  if (status === 401 || status === 403) {
    return [
      `${baseUrl} rejects the credentials (${status})`,
      'set the variable that its api_key names to a valid key',
    ];
  }
  if (status === 429) return undefined; // the key was accepted
  if (status >= 500) return [`${baseUrl} answers ${status}`, 'wait, or ask whoever runs it'];
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

function isList(body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null && ('data' in value || 'models' in value);
  } catch {
    return false; // no JSON
  }
}

function faultOfConnection(thrown: unknown, { baseUrl = '', proxy, timeouts }: ProviderConfig): Fault {
  const via = proxy === undefined ? '' : ` through the proxy ${new URL(proxy).host}`;
  const fault = connectionFault(thrown, { setting: 'base_url', trust });
  if (fault !== undefined) return [`${baseUrl}${via}: ${fault[0]}`, fault[1]];
  const text = causesOf(thrown).at(-1)?.message ?? String(thrown);
  if (proxy !== undefined) {
    return [
      `${baseUrl}${via}: ${text}`,
      'check HTTPS_PROXY and its password, or give the provider a proxy of its own, or none',
    ];
  }
  const isLate = thrown instanceof GatewayError && thrown.code === 'provider.timeout';
  return [
    `${baseUrl}: ${text}`,
    isLate
      ? `check the network; the gateway waits ${timeouts.connectMs} ms for a connection`
      : 'check base_url and the network',
  ];
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
function checkClock({ headers }: FetchedAnswer, { startedMs, endedMs, name }: Asked): Finding[] {
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
