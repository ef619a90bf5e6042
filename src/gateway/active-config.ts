import type { Counters } from '../limits/counters.ts';
import { type KeySession, Limiter } from '../limits/limiter.ts';
import type { BreakerChange } from '../providers/health.ts';
import { labelOf, Provider } from '../providers/provider.ts';
import { createModelRouter } from '../providers/route.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import { createDecider } from './decision/decider.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway, GatewayConfig, ProcessState } from './gateway.ts';
import { handle } from './handle.ts';
import { createModelCatalogue } from './local-endpoints/models.ts';
import { Scrubber } from './scrub.ts';
import { type Pace, warmUp } from './warm-up/warm-up.ts';

/** A configuration that is ready to be applied. */
export interface PreparedConfig {
  /** New exchanges follow it from now on; those in flight keep theirs. */
  commit(): void;
  discard(): void;
}

/** The configuration in force, and its replacement while exchanges are in flight. */
export class ActiveConfig {
  readonly #state: ProcessState;
  #current: ConfiguredGateway;
  /** Replaced configurations whose last exchanges are not over. */
  readonly #retiring = new Set<Promise<void>>();

  constructor(config: GatewayConfig, state: ProcessState) {
    this.#state = state;
    this.#current = configureGateway(config, state);
  }

  get providers(): readonly Provider[] {
    return this.#current.providers;
  }

  get scrubber(): Scrubber {
    return this.#current.scrubber;
  }

  run(exchange: Exchange): void {
    this.#current.run(exchange);
  }

  /**
   * Builds what a configuration needs, and makes its first exchange as quick as those after it. Throws if it can't be
   * applied; nothing changes until `commit`.
   */
  async prepare(next: GatewayConfig): Promise<PreparedConfig> {
    const built = configureGateway(next, this.#state, this.providers);
    // Somebody waits for it in any case; between its slices exchanges go on.
    await built.warmUp({ isBusy: () => false, isOver: () => false });
    return {
      commit: () => {
        const previous = this.#current;
        this.#current = built;
        this.#retire(previous);
      },
      discard: () => this.#retire(built),
    };
  }

  /** Makes the first exchange as quick as those after it, while none is open. */
  warmUp(pace: Pace): Promise<void> {
    const started = this.#current;
    return started.warmUp({ ...pace, isOver: () => pace.isOver() || this.#current !== started });
  }

  /** Another process opened or closed a breaker. */
  followBreaker(change: BreakerChange): void {
    const known = this.providers.find(({ breakerName }) => breakerName === change.provider);
    known?.health.follow(change, Date.now());
  }

  /** Resolves when no exchange is left, of any configuration. */
  async close(): Promise<void> {
    await Promise.all([this.#current.close(), ...this.#retiring]);
  }

  #retire(retired: ConfiguredGateway): void {
    // If the whole gateway stops meanwhile, its connections are gone already.
    const closed = retired.close().catch(() => undefined);
    this.#retiring.add(closed);
    void closed.then(() => this.#retiring.delete(closed));
  }
}

type ConfiguredGateway = ReturnType<typeof configureGateway>;

/** Builds the gateway for a configuration, after the providers of the one it replaces; throws if it can't be applied. */
function configureGateway(config: GatewayConfig, state: ProcessState, previous: readonly Provider[] = []) {
  const { ticks, counters, breakers, startedMs } = state;
  const all = config.providers.map((options) => {
    const label = labelOf(options);
    const before = previous.find((provider) => provider.label === label);
    const { publish: onBreaker } = breakers ?? {};
    return new Provider(options, { onBreaker, onRefusedKey: state.onRefusedKey, ticks, previous: before });
  });
  const providers = new Map<string, Provider[]>();
  for (const provider of all) {
    const { name } = provider.options;
    providers.set(name, [...(providers.get(name) ?? []), provider]);
  }
  const { models, findModel, findKnown } = config;
  const router = createModelRouter({ models, findModel, findKnown, providers });
  const decider = createDecider({
    source: config.policySource,
    names: { models: config.models, providers: [...providers.keys()] },
    limits: config.decisionThreads,
    entry: state.deciderEntry,
  });
  const gateway: Gateway = {
    ...config,
    ...state,
    holdBody: ({ project, id }) => state.bodyMemory.open(`${project}/${id}`, config.bodiesInFlight),
    takesLogins: config.providers.some(({ credentials }) => credentials === 'client'),
    decider,
    router,
    catalogue: createModelCatalogue({ entries: config.models, router, providers, startedMs }),
    limiterFor: limitersFor(counters, state.ledger),
    pieces: ticks.pieces,
  };
  let running = 0;
  let retired: (() => void) | undefined;
  const scrubber = new Scrubber(config.secrets);
  const ended = () => {
    running -= 1;
    if (running === 0) retired?.();
  };
  const failed = (thrown: unknown) => {
    ended();
    throw thrown;
  };
  return {
    providers: all,
    /** Scrubs every configured secret. */
    scrubber,
    warmUp: (pace: Pace) =>
      warmUp({ policySets: config.policySets(), providers: config.providers, scrubber }, pace),
    /** Handles an exchange, which answers its own failures. */
    run: (exchange: Exchange): void => {
      running += 1;
      void handle(exchange, gateway).then(ended, failed);
    },
    /**
     * Closes thread and providers when the last exchange is over: once closed they accept no request, not even a
     * queued one.
     */
    close: async (): Promise<void> => {
      const idle = new Promise<void>((resolve) => {
        retired = resolve;
      });
      if (running > 0) await idle;
      await Promise.all([decider.close(), ...all.map((provider) => provider.close())]);
    },
  };
}

/** Runs whose limiters are kept: clients choose their names. */
const keptRuns = 1_000;

/** A limiter per key, and per runs that have limits of their own, created at first use. */
function limitersFor(counters: Counters, ledger: Ledger | undefined): Gateway['limiterFor'] {
  const readRaises = ledger && ((session: KeySession) => ledger.readRaises(session));
  const known = new Map<string, Limiter>();
  const knownRuns = new Map<string, Limiter>();
  return ({ id, limits }, ofRuns = []) => {
    if (ofRuns.length === 0) {
      if (limits === undefined) return undefined;
      const limiter = known.get(id) ?? new Limiter(counters, limits, readRaises);
      known.set(id, limiter);
      return limiter;
    }
    const name = JSON.stringify(ofRuns);
    const limiter = knownRuns.get(name) ?? new Limiter(counters, [...(limits ?? []), ...ofRuns], readRaises);
    knownRuns.delete(name);
    if (knownRuns.size >= keptRuns) knownRuns.delete(knownRuns.keys().next().value ?? '');
    knownRuns.set(name, limiter);
    return limiter;
  };
}
