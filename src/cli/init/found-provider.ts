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

/** The endpoints that most hosts of the OpenAI family support; requests to the others are translated. */
export const chatAndEmbeddings = ['chat', 'embeddings'] as const;
