import { regionOf } from '../../hosts/clouds.ts';
import { parseDuration } from '../../lib/duration.ts';
import { isLoopbackHost } from '../../lib/loopback.ts';
import {
  endpointNames as allEndpoints,
  type EndpointName,
  type ProviderDialect,
  type ProviderSettings,
} from '../schema/provider.ts';
import { isProxyUrl } from '../schema/scalars.ts';
import type { Settings } from '../schema/schema.ts';
import type { CaFile } from '../source/named-files.ts';
import { type ProblemSink, warnIfWritten } from '../source/report.ts';
import { checkCloud } from './check-cloud.ts';
import { type ProxyEnvironment, proxyFor } from './proxy.ts';

/** What stands in a provider's settings for something else, which is in its place. */
type Replaced =
  | 'base_url'
  | 'api_key'
  | 'api_keys'
  | 'ca_file'
  | 'proxy'
  | 'endpoints'
  | 'forward_headers'
  | 'timeouts'
  | 'heartbeat'
  | 'open_after'
  | 'breaker';

type InMs<Durations> = { readonly [Name in keyof Durations & string as `${Name}Ms`]: number };

/** A provider's settings, ready for its client: a new one is passed on as it is. */
export interface ProviderConfig extends Readonly<Omit<ProviderSettings, Replaced>> {
  readonly name: string;
  /** Without a slash at its end. Absent exactly for the sandbox, whose address `serve` knows. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** Several in its place, with their names; see `withEachKey`. */
  readonly keys?: readonly { readonly name: string; readonly value: string }[];
  /** Of a provider with several keys, the name of this one. */
  readonly keyName?: string;
  /** PEM certificates of further authorities. */
  readonly ca?: string;
  /** URL of the proxy that connections are tunnelled through, with its credentials. */
  readonly proxy?: string;
  /** By the names of the gateway's endpoints. */
  readonly endpoints: ReadonlySet<string>;
  /** Lower-case names of client headers that are forwarded besides the usual ones. */
  readonly forwardHeaders: ReadonlySet<string>;
  readonly timeouts: InMs<ProviderSettings['timeouts']>;
  /** After how much silence its streams get signs of life; undefined: only those that don't pass unchanged get any. */
  readonly heartbeatMs?: number;
  /** After how long without its head a stream is begun; undefined: only translated ones are, after the usual time. */
  readonly openAfterMs?: number;
  readonly breaker: { readonly failures: number; readonly openMs: number };
  /** False when something it needs is missing; requests for it are refused as provider.unavailable. */
  readonly isConfigured: boolean;
  readonly disabledBecause?: string;
}

const families: Readonly<
  Record<ProviderDialect, { readonly endpoints: readonly EndpointName[]; readonly baseUrl?: string }>
> = {
  sandbox: { endpoints: allEndpoints },
  anthropic: { endpoints: ['messages', 'count_tokens'], baseUrl: 'https://api.anthropic.com' },
  gemini: {
    endpoints: ['gemini', 'gemini_embeddings', 'count_tokens'],
    baseUrl: 'https://generativelanguage.googleapis.com',
  },
  openai: {
    endpoints: ['chat', 'responses', 'embeddings', 'count_tokens'],
    baseUrl: 'https://api.openai.com/v1',
  },
  bedrock: { endpoints: ['messages'] },
  vertex: { endpoints: ['messages', 'count_tokens'] },
};

/** Where a provider of a dialect is, unless the configuration says otherwise; undefined for the sandbox. */
export function defaultBaseUrl(dialect: string): string | undefined {
  return Object.entries(families).find(([name]) => name === dialect)?.[1].baseUrl;
}

/** Fills in what depends on the dialect, so that `config show` can print it. */
export function withDialectDefaults(settings: ProviderSettings): ProviderSettings {
  const family = families[settings.dialect];
  const region =
    settings.region ??
    (settings.credentials === 'aws' && settings.api_key === undefined
      ? regionOf(settings.base_url)
      : undefined);
  return {
    ...settings,
    endpoints:
      settings.endpoints ??
      family.endpoints.filter(
        (name) =>
          (name !== 'count_tokens' || counts(settings)) && (name !== 'responses' || responds(settings)),
      ),
    ...(region !== undefined && { region }),
    ...(settings.base_url === undefined && family.baseUrl !== undefined && { base_url: family.baseUrl }),
  };
}

/** Of the hosts of OpenAI's dialect most have no path for counting, so it is used where they are OpenAI's own. */
function counts({ dialect, base_url = '' }: ProviderSettings): boolean {
  return dialect !== 'openai' || /^(?:https:\/\/(?:\w+\.)?api\.openai\.com(?:[:/].*)?)?$/.test(base_url);
}

/** Azure's dated versions have Responses from this one on. */
function responds({ api_version: version }: ProviderSettings): boolean {
  return version === undefined || version >= '2025-03-01';
}

interface ProviderInputs {
  readonly settings: Pick<Settings, 'providers'>;
  readonly caFiles: ReadonlyMap<string, CaFile>;
  readonly proxies: ProxyEnvironment;
  readonly report: ProblemSink;
}

export function buildProviders(inputs: ProviderInputs): ReadonlyMap<string, ProviderConfig> {
  const all = Object.entries(inputs.settings.providers ?? {});
  const providers = new Map(
    all.map(([name, settings]) => [name, buildProvider(name, settings, inputs)] as const),
  );
  for (const endpoint of allEndpoints) checkLogins(endpoint, [...providers.values()], inputs.report);
  return providers;
}

/** If two hosts take the client's own login at one endpoint, it is ambiguous which one it is for. */
function checkLogins(
  endpoint: EndpointName,
  providers: readonly ProviderConfig[],
  report: ProblemSink,
): void {
  const [first, ...others] = providers.filter(
    ({ credentials, endpoints, baseUrl }) =>
      credentials === 'client' && endpoints.has(endpoint) && baseUrl !== undefined,
  );
  const second = others.find(
    ({ baseUrl = '' }) => new URL(baseUrl).origin !== new URL(first?.baseUrl ?? '').origin,
  );
  if (first === undefined || second === undefined) return;
  report.error(
    ['providers', second.name, 'credentials'],
    `${first.name} takes the client's own login for ${endpoint} too, and it can be for one host only`,
    { hint: 'give one of them an api_key, or other endpoints' },
  );
}

function buildProvider(name: string, settings: ProviderSettings, inputs: ProviderInputs): ProviderConfig {
  const { caFiles, proxies, report } = inputs;
  check(['providers', name], settings, report);
  checkCloud(['providers', name], settings, report);
  const {
    base_url,
    api_key,
    api_keys,
    ca_file,
    proxy: own,
    endpoints,
    forward_headers,
    timeouts,
    heartbeat,
    open_after,
    breaker,
    ...rest
  } = settings;
  const ca = authoritiesOf(['providers', name, 'ca_file'], ca_file, { caFiles, report });
  const disabledBecause = missingPart(['providers', name], settings, report);
  const baseUrl = base_url?.replace(/\/+$/, '');
  const proxy = baseUrl === undefined ? undefined : proxyFor(new URL(baseUrl), own, proxies);
  const isProxied = proxy !== undefined && isProxyUrl(proxy);
  if (proxy !== undefined && !isProxied) {
    report.error(
      ['providers', name],
      'HTTPS_PROXY or HTTP_PROXY is not the http:// or https:// URL of a proxy; in a password # / ? @ are %23 %2F %3F %40',
      {
        part: 'key',
        hint: 'or give this provider a proxy of its own, or none',
      },
    );
  }
  return {
    ...rest,
    name,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(api_key !== undefined && { apiKey: api_key }),
    ...(api_keys !== undefined && {
      keys: Object.entries(api_keys).map(([keyName, value]) => ({ name: keyName, value })),
    }),
    ...(ca !== undefined && { ca }),
    ...(isProxied && { proxy }),
    endpoints: new Set(endpoints),
    forwardHeaders: forwardHeadersOf(forward_headers, rest),
    timeouts: inMs(timeouts),
    ...(heartbeat !== undefined && { heartbeatMs: ms(heartbeat) }),
    ...(open_after !== undefined && { openAfterMs: ms(open_after) }),
    breaker: { failures: breaker.failures, openMs: ms(breaker.open) },
    isConfigured: disabledBecause === undefined,
    ...(disabledBecause !== undefined && { disabledBecause }),
  };
}

function inMs<Durations extends Readonly<Record<string, string>>>(durations: Durations): InMs<Durations> {
  const entries = Object.entries(durations).map(([name, text]) => [`${name}Ms`, ms(text)]);
  return Object.fromEntries(entries) as InMs<Durations>; // the names of the type, in the same way
}

/** What Codex tells ChatGPT's host beside its login; other hosts have no use for it. */
const codexHeaders = [
  'chatgpt-account-id',
  'x-openai-fedramp',
  'x-openai-internal-codex-responses-lite',
  'x-openai-subagent',
  'version',
];

function forwardHeadersOf(
  written: readonly string[],
  { credentials, dialect }: Pick<ProviderSettings, 'credentials' | 'dialect'>,
): ReadonlySet<string> {
  const own = written.map((header) => header.toLowerCase());
  return new Set(credentials === 'client' && dialect === 'openai' ? [...own, ...codexHeaders] : own);
}

function check(path: readonly string[], settings: ProviderSettings, report: ProblemSink): void {
  const { dialect, base_url, credentials } = settings;
  const own = families[dialect].endpoints;
  for (const [i, endpoint] of (settings.endpoints ?? []).entries()) {
    if (own.includes(endpoint)) continue;
    report.error(
      [...path, 'endpoints', i],
      `a host of dialect ${dialect} has no ${endpoint}: it has ${own.join(', ')}`,
    );
  }
  if (dialect === 'sandbox') {
    for (const key of ['base_url', 'api_key', 'api_keys', 'ca_file', 'proxy'] as const) {
      if ((settings[key] ?? undefined) !== undefined)
        report.error([...path, key], 'the sandbox is built in and takes none', { part: 'key' });
    }
    if (credentials === 'client')
      report.error([...path, 'credentials'], 'the sandbox is built in and takes no login');
    return;
  }
  const key = checkKeys(path, settings, report);
  if (dialect === 'gemini' && credentials === 'client')
    report.error([...path, 'credentials'], 'hosts of dialect gemini take a key only, as api_key');
  if (key !== undefined && credentials === 'client') {
    report.error(
      [...path, settings.api_keys === undefined ? 'api_key' : 'api_keys'],
      "its requests carry the client's own credential: remove one of the two",
      {
        part: 'key',
      },
    );
  }
  if (base_url === undefined) return;
  const { protocol, hostname, pathname } = new URL(base_url);
  if (protocol === 'http:' && credentials === 'client' && !isLoopbackHost(hostname)) {
    report.error([...path, 'base_url'], "the client's own login must not go over the network unencrypted", {
      hint: 'use https://',
    });
  }
  if (protocol === 'http:' && key !== undefined && !isLoopbackHost(hostname)) {
    report.warn([...path, 'base_url'], 'the key and all requests go over the network unencrypted');
  }
  if (dialect === 'anthropic' && /\/v1\/*$/.test(pathname)) {
    report.warn([...path, 'base_url'], 'hosts of dialect anthropic are given without /v1');
  }
}

function authoritiesOf(
  path: readonly string[],
  ca_file: string | null,
  { caFiles, report }: Pick<ProviderInputs, 'caFiles' | 'report'>,
): string | undefined {
  const file = ca_file === null ? undefined : caFiles.get(ca_file);
  if (file?.kind === 'read') return file.pem;
  if (file?.kind === 'failed') report.error(path, `cannot be used: ${file.reason}`);
  return undefined;
}

/** Checks `api_key` and `api_keys`, of which a provider has one; a key, if it has any. */
function checkKeys(
  path: readonly string[],
  { api_key, api_keys }: ProviderSettings,
  report: ProblemSink,
): string | undefined {
  if (api_key !== undefined) warnIfWritten(report, [...path, 'api_key'], 'a key');
  if (api_keys === undefined) return api_key;
  const at = [...path, 'api_keys'];
  if (api_key !== undefined) {
    report.error([...path, 'api_key'], 'stands beside api_keys: name it there too', { part: 'key' });
  }
  const keys = Object.entries(api_keys);
  if (keys.length === 0 && report.missingBelow(at) === undefined) {
    report.error(at, `names no key: write one as work: "\${NAME}"`, { part: 'key' });
  }
  for (const [i, [name, key]] of keys.entries()) {
    warnIfWritten(report, [...at, name], 'a key');
    const same = keys.slice(0, i).find(([, other]) => other === key);
    if (same !== undefined) report.error([...at, name], `is the same key as ${same[0]}`);
  }
  const missing = keys.length === 0 ? undefined : report.missingBelow(at);
  if (missing !== undefined) report.warn(at, `${missing}: requests go to the other keys`, { part: 'key' });
  return api_key ?? keys[0]?.[1] ?? '';
}

/** What it lacks; of several keys one is enough. */
function missingPart(
  path: readonly string[],
  settings: ProviderSettings,
  report: ProblemSink,
): string | undefined {
  const { base_url, api_key, api_keys = {}, credentials } = settings;
  const hasKeys = Object.keys(api_keys).length > 0;
  const missing = hasKeys
    ? Object.keys(settings).flatMap((name) =>
        name === 'api_keys' ? [] : (report.missingBelow([...path, name]) ?? []),
      )[0]
    : report.missingBelow(path);
  if (missing !== undefined || hasKeys || credentials === 'client') return missing;
  const isPublicHost = /^https:\/\/api\.(?:anthropic|openai)\.com(?:[:/]|$)/.test(base_url ?? '');
  const hasNone = api_key === undefined && !report.isLeftOut([...path, 'api_key']);
  return isPublicHost && hasNone ? 'it has no api_key' : undefined;
}

/**
 * A provider with several keys as one for each of them: what a host answers to one key (that it has asked for too much,
 * that it is not valid) says nothing of the others.
 */
export function withEachKey({ keys, ...provider }: ProviderConfig): readonly ProviderConfig[] {
  if (keys === undefined) return [provider];
  return keys.map(({ name, value }) => ({ ...provider, apiKey: value, keyName: name }));
}

/** Of a text that the schema has accepted. */
function ms(text: string): number {
  return parseDuration(text) ?? 0;
}
