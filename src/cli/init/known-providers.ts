/** A provider that `init` can write. */
export interface FoundProvider {
  readonly name: string;
  readonly dialect: 'anthropic' | 'openai';
  /** Absent for the dialect's default. */
  readonly baseUrl?: string;
  /** The environment variable with its key; absent for servers on this machine, and logins. */
  readonly variable?: string;
  /** Whether it takes the login that an agent keeps, in the place of a key. */
  readonly takesLogin?: true;
  readonly endpoints?: readonly string[];
  /** Names and patterns of its models; if empty, all that no other provider serves. */
  readonly models: readonly string[];
  readonly isFound: boolean;
  /** How it was found, for a person. */
  readonly note: string;
}

type Hosted = Pick<FoundProvider, 'dialect' | 'baseUrl' | 'models'> & { readonly variable: string };

/** Hosted providers whose keys have conventional variable names, in the order in which their models are matched. */
export const hostedProviders = {
  anthropic: { dialect: 'anthropic', variable: 'ANTHROPIC_API_KEY', models: ['claude-*'] },
  openai: {
    dialect: 'openai',
    variable: 'OPENAI_API_KEY',
    models: ['gpt-*', 'o1*', 'o3*', 'o4*', 'text-embedding-*'],
  },
  gemini: {
    dialect: 'openai',
    variable: 'GEMINI_API_KEY',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    models: ['gemini-*'],
  },
  mistral: {
    dialect: 'openai',
    variable: 'MISTRAL_API_KEY',
    baseUrl: 'https://api.mistral.ai/v1',
    models: ['mistral-*', 'codestral-*', 'ministral-*'],
  },
  deepseek: {
    dialect: 'openai',
    variable: 'DEEPSEEK_API_KEY',
    baseUrl: 'https://api.deepseek.com/v1',
    models: ['deepseek-*'],
  },
  xai: { dialect: 'openai', variable: 'XAI_API_KEY', baseUrl: 'https://api.x.ai/v1', models: ['grok-*'] },
  openrouter: {
    dialect: 'openai',
    variable: 'OPENROUTER_API_KEY',
    baseUrl: 'https://openrouter.ai/api/v1',
    models: ['*/*'],
  },
} as const satisfies Readonly<Record<string, Hosted>>;

/** The endpoints that most hosts of the OpenAI family support; requests to the others are translated. */
export const chatAndEmbeddings = ['chat', 'embeddings'] as const;
