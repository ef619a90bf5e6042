import type { Cloud } from '../../cloud-hosts.ts';
import type { ProviderDialect } from '../../config/schema/provider.ts';

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
