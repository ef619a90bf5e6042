import { isLoopbackHost } from '../lib/loopback.ts';
import { type Cells, type HostName, hosts, modelFamilies } from './registry.ts';
import { type HostTraits, widelyAccepted } from './traits.ts';

/** A model at a host. */
export interface HostedModel {
  readonly host: Host;
  readonly targetModel: string;
}

/** A host of which only the dialect's family is known, or that it runs on this machine, counts as one of these. */
export type Host = HostName | 'local' | 'unknown';

/** How a provider says which host it is. */
export interface HostHints {
  /** `providers.NAME.host`, which wins. */
  readonly host?: HostName | undefined;
  /** The dialect's family. */
  readonly dialect: string;
  readonly hostname: string;
}

const families: Readonly<Record<string, HostName>> = {
  anthropic: 'anthropic',
  gemini: 'gemini',
  bedrock: 'bedrock',
  vertex: 'vertex',
};

export function findHost({ host, dialect, hostname }: HostHints): Host {
  return host ?? hostNamed(hostname) ?? families[dialect] ?? (isLocal(hostname) ? 'local' : 'unknown');
}

function hostNamed(hostname: string): HostName | undefined {
  const isIts = (name: string) => (name.startsWith('.') ? hostname.endsWith(name) : hostname === name);
  return hostNames.find((host) => hosts[host].names.some(isIts)) ?? googleCloudNamed(hostname);
}

function googleCloudNamed(hostname: string): HostName | undefined {
  return /(?:^|[-.])aiplatform\.(?:(?:us|eu)\.rep\.)?googleapis\.com$/.test(hostname) ? 'vertex' : undefined;
}

export const hostNames = Object.keys(hosts) as [HostName, ...HostName[]];

function isLocal(hostname: string): boolean {
  return isLoopbackHost(hostname) || hostname.endsWith('.localhost');
}

/** What a host takes for one of its models: what is known of the host wins over what is known of the model's family. */
export function traitsOf({ host, targetModel: model }: HostedModel): HostTraits {
  const row: { kind: string; cells: Cells } = isNamed(host) ? hosts[host] : { kind: host, cells: {} };
  const name = bareName(model);
  const family = row.kind === 'vendor' ? undefined : modelFamilies.find(({ match }) => match.test(name));
  return {
    ...widelyAccepted,
    ...(host === 'local' && { streamUsage: true }), // llama.cpp, LM Studio, Ollama, vLLM
    ...valuesOf(family?.cells ?? {}),
    ...valuesOf(row.cells),
  };
}

function isNamed(host: Host): host is HostName {
  return Object.hasOwn(hosts, host);
}

function valuesOf(cells: Cells): Partial<HostTraits> {
  return Object.fromEntries(Object.entries(cells).map(([trait, [value]]) => [trait, value]));
}

/** The model's name without the vendor that aggregators put in front: `openai/gpt-5` is `gpt-5`. */
export function bareName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase();
}
