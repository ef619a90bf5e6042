/** Clouds whose credentials are found by their own tools. */
export type Cloud = 'azure' | 'aws' | 'google';

interface CloudHosts {
  readonly name: string;
  /** Its hosts that serve models; no one else can have a matching name. */
  readonly hosts: RegExp;
  /** The variables in which its own documentation keeps keys for these hosts. */
  readonly variables: readonly string[];
  /** Its package that finds credentials, which users install, and what they install if its newest wants a newer Node. */
  readonly package: string;
  readonly install: string;
}

const region = '[a-z]{2}(?:-[a-z]+)+-\\d';

export const clouds: Readonly<Record<Cloud, CloudHosts>> = {
  azure: {
    name: 'Azure',
    hosts: /^[a-z0-9-]+\.(?:openai|services\.ai|cognitiveservices)\.azure\.com$/,
    variables: ['AZURE_OPENAI_API_KEY', 'AZURE_API_KEY', 'ANTHROPIC_FOUNDRY_API_KEY'],
    package: '@azure/identity',
    install: '@azure/identity@4.13.0',
  },
  aws: {
    name: 'AWS',
    hosts: new RegExp(
      `^bedrock-(?:runtime(?:-fips)?\\.${region}\\.amazonaws\\.com(?:\\.cn)?|mantle\\.${region}\\.api\\.aws)$`,
    ),
    variables: ['AWS_BEARER_TOKEN_BEDROCK'],
    package: '@aws-sdk/credential-provider-node',
    install: '@aws-sdk/credential-provider-node',
  },
  google: {
    name: 'Google',
    hosts: /^(?:(?:[a-z]+-[a-z]+\d+-)?aiplatform|aiplatform\.(?:us|eu)\.rep)\.googleapis\.com$/,
    variables: [],
    package: 'google-auth-library',
    install: 'google-auth-library@10',
  },
};

export function isCloud(name: string): name is Cloud {
  return Object.hasOwn(clouds, name);
}

/** The cloud that an https:// address is certainly of. */
export function cloudAt({ protocol, hostname, port }: URL): Cloud | undefined {
  if (protocol !== 'https:' || port !== '') return undefined;
  return Object.keys(clouds)
    .filter(isCloud)
    .find((cloud) => clouds[cloud].hosts.test(hostname));
}

/** The location that one of Google's hosts serves. */
export function locationOf({ hostname }: URL): string {
  return /^(.+)-aiplatform\.|^aiplatform\.(us|eu)\.rep\./.exec(hostname)?.slice(1).find(Boolean) ?? 'global';
}

/** The region in the name of one of AWS' hosts, private endpoints included; undefined for any other host. */
export function regionOf(url: string | undefined): string | undefined {
  const hostname = url !== undefined && URL.canParse(url) ? new URL(url).hostname : '';
  return new RegExp(`(?:^|\\.)bedrock-(?:runtime|mantle)(?:-fips)?\\.(${region})\\.`).exec(hostname)?.[1];
}
