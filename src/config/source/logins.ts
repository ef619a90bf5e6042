import { type Fields, isFields } from '../../dialects/fields.ts';
import { compileGlob } from '../../policy/glob.ts';
import type { Substituted } from './substitute.ts';

/** An agent's login that `gateway run` uses in the place of a provider's key. */
export interface WantedLogin {
  readonly agent: LoginAgent;
  /** The model that the agent asks for; the agent's own by default. */
  readonly model: string | undefined;
  /** Whether the login is used even if a key is configured. */
  readonly isForced: boolean;
}

interface Login {
  /** The name of its provider, if the configuration has none. */
  readonly name: string;
  /** A model that the agent asks for. */
  readonly model: string;
  /** The names of its models. */
  readonly match: readonly string[];
  /** Where its login may go. */
  readonly provider: Readonly<Record<string, unknown>> & { readonly dialect: string };
  /** The host of the vendor's API, where providers with a key are. */
  readonly apiHost: string;
}

/** The logins that agents keep: whose vendor's host they are for, and for which models. */
export const logins = {
  claude: {
    name: 'claude-login',
    model: 'claude-sonnet-4-5',
    match: ['claude-*'],
    provider: { dialect: 'anthropic', base_url: 'https://api.anthropic.com', credentials: 'client' },
    apiHost: 'api.anthropic.com',
  },
  codex: {
    name: 'chatgpt-login',
    model: 'gpt-5',
    match: ['gpt-*', 'codex-*'],
    provider: {
      dialect: 'openai',
      base_url: 'https://chatgpt.com/backend-api/codex',
      credentials: 'client',
      endpoints: ['responses'],
    },
    apiHost: 'api.openai.com',
  },
} as const satisfies Readonly<Record<string, Login>>;

export type LoginAgent = keyof typeof logins;

export type Read = Pick<Substituted, 'value' | 'references'>;

/**
 * The configuration with a provider for an agent's login, where the agent's model has no provider with a key: a new one, or
 * the vendor's own without its missing key. Unchanged where the configuration says otherwise, unless the login is forced:
 * then a key at the vendor's own host gives way to it.
 */
export function applyLogin({ value, references }: Read, wanted: WantedLogin): Read {
  const whole = value === null || value === undefined ? {} : asGroup(value);
  const login: Login = logins[wanted.agent];
  const providers = asGroup(whole?.providers ?? {});
  const models = whole?.models ?? [];
  if (whole === undefined || providers === undefined || !Array.isArray(models)) return { value, references };
  const entry = models.map(asGroup).find((each) => serves(each, wanted.model ?? login.model));
  if (entry === undefined) {
    const added = login.match.map((match) => ({ match, provider: login.name }));
    const next = {
      ...whole,
      providers: { ...providers, [login.name]: login.provider },
      models: [...models, ...added],
    };
    return { value: next, references };
  }
  const name = String(entry.provider);
  const provider = asGroup(providers[name]);
  const isKeyless = references.some(({ path, unset }) => unset.length > 0 && isKeyOf(path, name));
  const needsLogin = wanted.isForced || isKeyless || (provider?.api_key ?? provider?.api_keys) === undefined;
  if (provider === undefined || !needsLogin || !isAtVendor(provider, login)) return { value, references };
  const { api_key: _, api_keys: __, ...rest } = provider;
  return {
    value: { ...whole, providers: { ...providers, [name]: { ...rest, ...login.provider } } },
    references: references.filter(({ path }) => !isKeyOf(path, name)),
  };
}

function serves(entry: Fields | undefined, model: string): boolean {
  return typeof entry?.match === 'string' && compileGlob(entry.match)(model);
}

function isKeyOf(path: readonly PropertyKey[], provider: string): boolean {
  return path[0] === 'providers' && path[1] === provider && /^api_keys?$/.test(String(path[2]));
}

/** A login never goes to another host than its vendor's because a key does. */
function isAtVendor({ dialect, base_url }: Fields, login: Login): boolean {
  if (dialect !== login.provider.dialect) return false;
  if (base_url === undefined) return true;
  return typeof base_url === 'string' && URL.canParse(base_url) && new URL(base_url).host === login.apiHost;
}

function asGroup(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined;
}
