import { isLoopbackHost } from '../lib/loopback.ts';
import { memoize } from '../lib/memoize.ts';
import { clouds } from './clouds.ts';
import { type Cells, type HostName, type HostRow, hosts, localCells, modelFamilies } from './registry.ts';
import { type HostTraits, widelyAccepted } from './traits.ts';

/** A model at a host. */
export interface HostedModel {
  readonly host: Host;
  readonly targetModel: string;
}

/** A host that is known only by its dialect's family, or as one of this machine, counts as one of these. */
export type Host = HostName | 'local' | 'unknown';

/** How a provider says which host it is. */
export interface HostHints {
  /** `providers.NAME.host`, which wins. */
  readonly host?: HostName | undefined;
  /** The dialect's family. */
  readonly dialect: string;
  readonly url: URL;
}

const families: Readonly<Record<string, HostName>> = {
  anthropic: 'anthropic',
  gemini: 'gemini',
  bedrock: 'bedrock',
  vertex: 'vertex',
};

export function findHost({ host, dialect, url }: HostHints): Host {
  return (
    host ??
    hostNamed(url.hostname) ??
    claudeAtAmazon(dialect, url) ??
    families[dialect] ??
    (isLocal(url) ? programAt(url) : 'unknown')
  );
}

/** Bedrock's own hosts speak Anthropic's dialect too, and take of it what Bedrock takes. */
function claudeAtAmazon(dialect: string, { hostname }: URL): HostName | undefined {
  return dialect === 'anthropic' && clouds.aws.hosts.test(hostname) ? 'bedrock' : undefined;
}

function programAt({ port }: URL): Host {
  return hostNames.find((name) => rowOf(name).port === Number(port)) ?? 'local';
}

function hostNamed(hostname: string): HostName | undefined {
  const isIts = (name: string) => (name.startsWith('.') ? hostname.endsWith(name) : hostname === name);
  return hostNames.find((host) => hosts[host].names.some(isIts)) ?? googleCloudNamed(hostname);
}

function googleCloudNamed(hostname: string): HostName | undefined {
  return /(?:^|[-.])aiplatform\.(?:(?:us|eu)\.rep\.)?googleapis\.com$/.test(hostname) ? 'vertex' : undefined;
}

export const hostNames = Object.keys(hosts) as [HostName, ...HostName[]];

function isLocal({ hostname }: URL): boolean {
  return isLoopbackHost(hostname) || hostname.endsWith('.localhost');
}

function rowOf(name: HostName): HostRow {
  return hosts[name];
}

/** What a host takes for one of its models: what is known of the host wins over what is known of the model's family. */
export function traitsOf({ host, targetModel }: HostedModel): HostTraits {
  return modelTraits(`${host} ${targetModel}`);
}

/** A translation asks for them ten times; names that are too long to be memoized here are so by their bare name. */
const modelTraits = memoize((hosted): HostTraits => {
  const [host = '', model = ''] = splitOnce(hosted);
  return namedTraits(`${host} ${bareName(model)}`);
});

/** By the host and the bare name of the model, with a blank between them. */
const namedTraits = memoize((hosted): HostTraits => {
  const [host = '', name = ''] = splitOnce(hosted);
  const matching = ({ match }: { readonly match: RegExp }) => match.test(name);
  const row = isNamed(host) ? rowOf(host) : undefined;
  const ofFamilies = row?.kind === 'vendor' ? [] : modelFamilies.filter(matching);
  const models = row?.models?.filter(matching) ?? [];
  const all = [...ofFamilies, { cells: row?.cells ?? {} }, ...models].map(({ cells }) => cells);
  return { ...widelyAccepted, ...valuesOf([host === 'local' ? localCells : {}, ...all]) };
});

function splitOnce(hosted: string): readonly string[] {
  const at = hosted.indexOf(' ');
  return [hosted.slice(0, at), hosted.slice(at + 1)];
}

function isNamed(host: string): host is HostName {
  return Object.hasOwn(hosts, host);
}

/** The values of the cells, of which the last counts. */
function valuesOf(all: readonly Cells[]): Partial<HostTraits> {
  return Object.fromEntries(
    all.flatMap((cells) => Object.entries(cells).map(([trait, [value]]) => [trait, value])),
  );
}

/** What clouds put in front of a name: Bedrock `us.anthropic.`, Foundry `FW-` (Fireworks). */
const prefix = /^(?:fw-|(?:[a-z-]+\.){1,2}(?=[a-z]))/;

/** The dot of OpenRouter's `claude-opus-4.1`, where Anthropic has a hyphen. */
const claudeDot = /^(claude-[a-z-]*\d)\.(?=\d)/;

/**
 * The model's name without the vendor that aggregators and clouds put in front, and otherwise as its vendor writes it:
 * `openai/gpt-5` is `gpt-5`, Vertex' `claude-sonnet-4@20250514` ends in `-20250514`.
 */
export function bareName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(prefix, '')
    .replace(claudeDot, '$1-')
    .replace('@', '-');
}
