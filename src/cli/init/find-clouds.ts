import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ProviderDialect } from '../../config/schema/provider.ts';
import { type Cloud, clouds } from '../../hosts/clouds.ts';
import type { Io } from '../shell/io.ts';

type Env = Io['env'];

/** A provider that `init` can write. */
export interface FoundProvider {
  readonly name: string;
  readonly dialect: Exclude<ProviderDialect, 'sandbox'>;
  /** Absent for the dialect's default. */
  readonly baseUrl?: string;
  /** The environment variable with its key; absent for servers on this machine, and logins. */
  readonly variable?: string;
  /** Whose own tools find its credentials; with a variable, as whose key that is sent. */
  readonly credentials?: Cloud;
  /** Whether it takes the login that an agent keeps, in the place of a key. */
  readonly takesLogin?: true;
  readonly endpoints?: readonly string[];
  /** Names and patterns of its models; if empty, all that no other provider serves. */
  readonly models: readonly string[];
  /** What coding agents ask for by names that it doesn't have, and the model there that stands for them. */
  readonly agentModels?: { readonly match: string; readonly model: string };
  readonly isFound: boolean;
  /** It was found by a login at a cloud, which may be for other services there: a person has to say that it is meant. */
  readonly isAmbiguous?: boolean;
  /** Whether something is there, which didn't answer in time. */
  readonly isLate?: boolean;
  /** How it was found, for a person. */
  readonly note: string;
}

/**
 * The clouds that there are credentials for. Looks whether variables are set and files are there, and reads regions and
 * projects; never the credentials themselves, which the clouds' own packages find.
 */
export function findClouds(env: Env): readonly FoundProvider[] {
  return [bedrock(env), ...vertex(env), azure(env), foundry(env)];
}

/** Claude's name there for those who ask by Anthropic's: the profile of all regions is in every account that has the model. */
const bedrockAgentModel = 'global.anthropic.claude-sonnet-5';

function bedrock(env: Env): FoundProvider {
  const folder = join(homeOf(env), '.aws');
  const config = env.AWS_CONFIG_FILE ?? join(folder, 'config');
  const credentials = env.AWS_SHARED_CREDENTIALS_FILE ?? join(folder, 'credentials');
  const key = firstSet(env, clouds.aws.variables);
  const login =
    firstSet(env, ['AWS_ACCESS_KEY_ID', 'AWS_PROFILE', 'AWS_WEB_IDENTITY_TOKEN_FILE', ...containers]) ??
    [credentials, config].find((file) => existsSync(file));
  const profile = env.AWS_PROFILE ?? 'default';
  const region =
    labelOf(env.AWS_REGION) ??
    labelOf(env.AWS_DEFAULT_REGION) ??
    labelOf(settingOf(config, profile === 'default' ? 'default' : `profile ${profile}`, 'region')) ??
    'us-east-1';
  return {
    name: 'bedrock',
    dialect: 'bedrock',
    baseUrl: `https://bedrock-runtime.${region}.amazonaws.com`,
    ...(key === undefined ? { credentials: 'aws' } : { variable: key }),
    models: ['anthropic.*', '*.anthropic.*'],
    agentModels: { match: 'claude-*', model: bedrockAgentModel },
    isFound: (key ?? login) !== undefined,
    isAmbiguous: key === undefined,
    note: noteOf('aws', { key, login, needs: 'AWS_BEARER_TOKEN_BEDROCK or credentials of AWS' }),
  };
}

const containers = ['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI', 'AWS_CONTAINER_CREDENTIALS_FULL_URI'];

/** Claude and Gemini on Vertex, which needs to know the project too. */
function vertex(env: Env): readonly FoundProvider[] {
  const folder = env.CLOUDSDK_CONFIG ?? join(homeOf(env), '.config', 'gcloud');
  const file = env.GOOGLE_APPLICATION_CREDENTIALS;
  const adc = join(folder, 'application_default_credentials.json');
  const login = file ? 'GOOGLE_APPLICATION_CREDENTIALS' : existsSync(adc) ? adc : undefined;
  const active = readText(join(folder, 'active_config'))?.trim() || 'default';
  const named = ['GOOGLE_CLOUD_PROJECT', 'GCLOUD_PROJECT', 'ANTHROPIC_VERTEX_PROJECT_ID'];
  const project =
    named.map((name) => nameOf(env[name])).find((name) => name !== undefined) ??
    settingOf(join(folder, 'configurations', `config_${nameOf(active) ?? 'default'}`), 'core', 'project');
  const location = labelOf(env.GOOGLE_CLOUD_LOCATION) ?? labelOf(env.CLOUD_ML_REGION) ?? 'global';
  const place = `https://${hostAt(location)}/v1/projects/${project ?? 'PROJECT'}/locations/${location}`;
  const common = {
    credentials: 'google',
    isFound: login !== undefined && project !== undefined,
    isAmbiguous: true,
    note: noteOf('google', {
      login: project === undefined ? undefined : login,
      needs:
        login === undefined
          ? 'credentials of Google: gcloud auth application-default login'
          : 'GOOGLE_CLOUD_PROJECT',
    }),
  } as const;
  return [
    { ...common, name: 'vertex', dialect: 'vertex', baseUrl: place, models: ['claude-*'] },
    {
      ...common,
      name: 'vertex-gemini',
      dialect: 'gemini',
      baseUrl: `${place}/publishers/google`,
      endpoints: ['gemini'], // embeddings have another form there
      models: ['gemini-*'],
    },
  ];
}

function hostAt(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com';
  const isMultiRegion = location === 'us' || location === 'eu';
  return isMultiRegion
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`;
}

function azure(env: Env): FoundProvider {
  const key = firstSet(env, ['AZURE_OPENAI_API_KEY']);
  const origin = originOf(env.AZURE_OPENAI_ENDPOINT);
  return {
    name: 'azure',
    dialect: 'openai',
    baseUrl: `${origin ?? 'https://RESOURCE.openai.azure.com'}/openai/v1`,
    credentials: 'azure',
    ...(key !== undefined && { variable: key }),
    models: ['gpt-*', 'codex-*', 'o1*', 'o3*', 'o4*', 'text-embedding-*'],
    ...azureFinding({ key, hasPlace: origin !== undefined, needs: 'AZURE_OPENAI_ENDPOINT' }, env),
  };
}

function foundry(env: Env): FoundProvider {
  const key = firstSet(env, ['ANTHROPIC_FOUNDRY_API_KEY']);
  const resource = labelOf(env.ANTHROPIC_FOUNDRY_RESOURCE);
  const own = resource === undefined ? undefined : `https://${resource}.services.ai.azure.com`;
  const origin = own ?? originOf(env.ANTHROPIC_FOUNDRY_BASE_URL);
  return {
    name: 'foundry',
    dialect: 'anthropic',
    baseUrl: `${origin ?? 'https://RESOURCE.services.ai.azure.com'}/anthropic`,
    credentials: 'azure',
    ...(key !== undefined && { variable: key }),
    models: ['claude-*'],
    ...azureFinding({ key, hasPlace: origin !== undefined, needs: 'ANTHROPIC_FOUNDRY_RESOURCE' }, env),
  };
}

function azureFinding(
  { key, hasPlace, needs }: { key: string | undefined; hasPlace: boolean; needs: string },
  env: Env,
): Pick<FoundProvider, 'isFound' | 'note'> {
  const login = azureLogin(env) || undefined;
  const isFound = hasPlace && (key ?? login) !== undefined;
  const missing = hasPlace ? 'a key, or a login of az' : needs;
  return { isFound, note: noteOf('azure', { key, login: isFound ? login : undefined, needs: missing }) };
}

/** What says that Entra ID can be asked. */
function azureLogin(env: Env): string {
  const profile = join(env.AZURE_CONFIG_DIR ?? join(homeOf(env), '.azure'), 'azureProfile.json');
  const variables = ['AZURE_CLIENT_ID', 'AZURE_FEDERATED_TOKEN_FILE', 'IDENTITY_ENDPOINT'];
  return firstSet(env, variables) ?? (existsSync(profile) ? profile : '');
}

interface FoundCloud {
  readonly key?: string | undefined;
  readonly login: string | undefined;
  readonly needs: string;
}

function noteOf(cloud: Cloud, { key, login, needs }: FoundCloud): string {
  if (key !== undefined) return `${key} is set`;
  if (login === undefined) return `needs ${needs}`;
  return `${login} is there; needs npm install ${clouds[cloud].install} beside the gateway`;
}

function homeOf({ HOME }: Env): string {
  return HOME || homedir();
}

function firstSet(env: Env, names: readonly string[]): string | undefined {
  return names.find((name) => (env[name] ?? '') !== '');
}

/** A part of a host's name; anything else is as good as none. */
function labelOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[a-z0-9][a-z0-9-]{0,62}$/i.test(text) ? text : undefined;
}

/** A name that can stand in a path, such as a project's: some have a domain before them (`example.com:shop`). */
function nameOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[a-z0-9][a-z0-9.:-]{0,62}$/i.test(text) ? text : undefined;
}

function originOf(text: string | undefined): string | undefined {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' && url.username === '' ? url.origin : undefined;
}

/** A setting of a section of an INI file; only a name. */
function settingOf(file: string, section: string, name: string): string | undefined {
  let isIn = false;
  for (const line of readText(file)?.split(/\r?\n/) ?? []) {
    const head = /^\s*\[\s*(.*?)\s*\]/.exec(line)?.[1];
    if (head !== undefined) isIn = head.replace(/\s+/g, ' ') === section;
    const [key, value] = line.split('=', 2).map((part) => part.trim());
    if (isIn && key === name) return nameOf(value);
  }
  return undefined;
}

/** Undefined if it can't be read. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // it isn't there, or not for this user
  }
}
