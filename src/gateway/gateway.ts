import type { KeyLimits, KeyRecord, KeyRing } from '../config/build/keys.ts';
import type { ModelEntry } from '../config/build/models.ts';
import type { BodyCapacity, BodyLimits, BodyMemory, HeldBytes } from '../http/body.ts';
import type { AllowedOrigins } from '../http/check-origin.ts';
import type { PieceBudget, TickQueue } from '../lib/tick-queue.ts';
import type { Counters } from '../limits/counters.ts';
import type { FindKnownModel } from '../limits/known-models.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { PolicySource } from '../policy/compile.ts';
import type { PolicySet } from '../policy/policy-set.ts';
import type { BreakerChannel } from '../providers/health.ts';
import type { Provider, ProviderOptions } from '../providers/provider.ts';
import type { Router } from '../providers/route.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import type { Decider, ThreadLimits } from './decision/decider.ts';
import type { HealthzSources, Readiness } from './local-endpoints/health.ts';
import type { ModelCatalogue } from './local-endpoints/models.ts';

/** The part of a configuration that the proxy uses. */
export interface GatewayConfig extends AllowedOrigins {
  /** For the records. */
  readonly hash: string;
  readonly bodyLimits: BodyLimits;
  /** Request bodies in memory, of all keys together. */
  readonly bodiesInFlight: BodyCapacity;
  readonly decisionThreads: ThreadLimits;
  readonly keys: Pick<KeyRing, 'find'>;
  /** Those of the configured keys, some of them more than once. */
  readonly policySets: () => Iterable<PolicySet>;
  /** The configured providers, each once for each of its keys; a model whose provider is not among them is known but can't be served. */
  readonly providers: readonly ProviderOptions[];
  readonly models: readonly ModelEntry[];
  readonly findModel: (name: string) => ModelEntry | undefined;
  /** What is known of models besides. */
  readonly findKnown: FindKnownModel;
  /** The model for clients that name none, which must ask for it. */
  readonly defaultModel?: string | undefined;
  /** Strings that must never appear in an answer or a log. */
  readonly secrets: readonly string[];
  /** What the keys' policies were compiled from; the decision thread compiles its own. */
  readonly policySource: PolicySource;
  /** Whether records hold the requests' bodies. */
  readonly recordsBodies: boolean;
}

/** What outlives every configuration. */
export interface ProcessState {
  /** Batches the steps of exchanges; shared with everything else that takes part in them. */
  readonly ticks: TickQueue;
  readonly bodyMemory: BodyMemory;
  /** Where limits are counted, from one configuration to the next. */
  readonly counters: Counters;
  /** Where exchanges are entered; undefined if no ledger is kept. */
  readonly ledger: Ledger | undefined;
  /** Shares breakers with other processes. */
  readonly breakers: BreakerChannel | undefined;
  /** Called when a provider refuses one of several keys. */
  readonly onRefusedKey: ((provider: Provider) => void) | undefined;
  /** The module that runs in the decision thread, if it is not the product's. */
  readonly deciderEntry: URL | undefined;
  /** Throws gateway.overloaded if the process has no memory to spare, gateway.draining if it is stopping. */
  readonly admit: () => void;
  /** When the gateway started, shown as the date of models without one. */
  readonly startedMs: number;
  readonly readiness: Readiness;
  readonly health: HealthzSources;
}

/**
 * Everything an exchange looks up, prepared once per configuration. An exchange keeps the one it began with, so a
 * reload meanwhile changes nothing for it.
 */
export interface Gateway
  extends Omit<GatewayConfig, 'providers' | 'models' | 'findModel' | 'policySource' | 'policySets'>,
    Pick<ProcessState, 'ledger' | 'admit' | 'readiness' | 'health'> {
  /** Opens the account of a request's bytes, within what all requests of all keys may hold together. */
  readonly holdBody: (key: KeyRecord) => HeldBytes;
  /** Whether there is a provider that takes the client's own login. */
  readonly takesLogins: boolean;
  readonly decider: Decider;
  readonly router: Router;
  readonly catalogue: ModelCatalogue;
  /** The limits of a key and its project, and of a run of the key; undefined if there are none. */
  readonly limiterFor: (key: KeyRecord, ofRuns?: readonly KeyLimits[]) => Limiter | undefined;
  /** Shared by all answers. */
  readonly pieces: PieceBudget;
}
