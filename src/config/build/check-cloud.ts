import { cloudAt, clouds, isCloud, locationOf, regionOf } from '../../hosts/clouds.ts';
import { isLoopbackHost } from '../../lib/loopback.ts';
import type { ProviderSettings } from '../schema/provider.ts';
import type { ProblemSink } from '../source/report.ts';

/** Where the hosts of dialects without a default are, as an example. */
const examples = {
  bedrock: 'https://bedrock-runtime.REGION.amazonaws.com',
  vertex: 'https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION',
  gemini: 'https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION/publishers/google',
} as const;

/** Checks what a provider says of a cloud: that its credentials fit its dialect and its host, and nothing is left out. */
export function checkCloud(path: readonly string[], settings: ProviderSettings, report: ProblemSink): void {
  const { dialect, base_url, credentials, region, api_version } = settings;
  const api_key = settings.api_key ?? Object.values(settings.api_keys ?? {})[0];
  const problem = (key: string, message: string, hint?: string) =>
    report.error([...path, key], message, { hint });
  if ((dialect === 'bedrock' || dialect === 'vertex') && base_url === undefined) {
    problem('dialect', 'needs a base_url', `such as ${examples[dialect]}`);
  }
  if (dialect === 'vertex' && credentials !== 'google') problem('dialect', 'needs credentials: google');
  if (dialect === 'vertex' && base_url !== undefined && !/\/locations\/[^/]+\/*$/.test(base_url)) {
    problem('base_url', 'does not end with a project and a location', `such as ${examples.vertex}`);
  }
  if (dialect === 'bedrock' && credentials !== 'aws' && api_key === undefined) {
    problem('dialect', 'needs credentials: aws, or an api_key');
  }
  if (dialect === 'gemini' && (credentials === 'aws' || credentials === 'azure')) {
    problem('credentials', 'hosts of dialect gemini take an api_key, or credentials: google');
  }
  if (credentials === 'google' && api_key !== undefined) {
    problem('api_key', 'its requests carry credentials of Google: remove one of the two');
  }
  const isSigned = credentials === 'aws' && api_key === undefined;
  if (isSigned && region === undefined) {
    problem('credentials', 'the name of its host has no region', 'say which: region: us-east-1');
  }
  if (region !== undefined && !isSigned)
    problem('region', 'is for requests that are signed: credentials: aws');
  if (api_version !== undefined && (dialect !== 'openai' || !/\/openai\/*$/.test(base_url ?? ''))) {
    problem('api_version', 'is for dialect openai and a base_url that ends with /openai');
  }
  if (!isCloud(credentials)) return;
  if (dialect === 'sandbox') return problem('credentials', 'the sandbox is built in and takes none');
  const url = base_url === undefined ? undefined : new URL(base_url);
  if (url !== undefined) checkPlace([...path, 'base_url'], url, settings, report);
  if (url?.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    const whose = clouds[credentials].name;
    problem('base_url', `credentials of ${whose} must not go over the network unencrypted`, 'use https://');
  }
}

/** What a cloud would refuse: a path that is another's, a location or a region that the host doesn't serve. */
function checkPlace(
  path: readonly string[],
  url: URL,
  { dialect, region }: ProviderSettings,
  report: ProblemSink,
): void {
  const isGoogles = cloudAt(url) === 'google';
  if (dialect === 'gemini' && isGoogles && !/\/publishers\/google\/*$/.test(url.pathname)) {
    report.error(path, 'does not end with /publishers/google', { hint: `such as ${examples.gemini}` });
  }
  const location = /\/locations\/([^/]+)/.exec(url.pathname)?.[1];
  const served = isGoogles ? locationOf(url) : undefined;
  if (location !== undefined && served !== undefined && location !== served) {
    report.warn(path, `its host serves ${served}, and the path names ${location}`);
  }
  const own = regionOf(url.href);
  if (region !== undefined && own !== undefined && region !== own) {
    report.warn(path, `its host is in ${own}, and requests are signed for ${region}`);
  }
}
