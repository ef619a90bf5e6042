interface Hosted {
  readonly dialect: 'anthropic' | 'openai';
  /** The variable that its own documentation tells users to keep their key in. */
  readonly variable: string;
  /** Absent for the dialect's default. */
  readonly baseUrl?: string;
  /** Names and patterns of its models. */
  readonly models: readonly string[];
}

/** Hosted providers whose keys have conventional variable names, in the order in which their models are matched. */
export const hostedProviders = {
  anthropic: { dialect: 'anthropic', variable: 'ANTHROPIC_API_KEY', models: ['claude-*'] },
  openai: {
    dialect: 'openai',
    variable: 'OPENAI_API_KEY',
    models: ['gpt-*', 'codex-*', 'o1*', 'o3*', 'o4*', 'text-embedding-*'],
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
