import type { BreakerChange } from '../providers/breaker-channel.ts';
import type { Provider } from '../providers/provider.ts';
import {
  type ConfiguredGateway,
  configureGateway,
  type GatewayConfig,
  type ProcessState,
} from './configure.ts';
import type { Exchange } from './exchange.ts';

export interface PreparedConfig {
  /** New exchanges follow the configuration from now on; those in flight keep theirs. */
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

  run(exchange: Exchange): void {
    this.#current.run(exchange);
  }

  /** Builds what a configuration needs, and throws if it can't be applied; nothing changes until `commit`. */
  prepare(next: GatewayConfig): PreparedConfig {
    const built = configureGateway(next, this.#state, this.#current);
    return {
      commit: () => {
        const previous = this.#current;
        this.#current = built;
        this.#retire(previous);
      },
      discard: () => this.#retire(built),
    };
  }

  /** Another process opened or closed a breaker. */
  followBreaker(change: BreakerChange): void {
    const known = this.providers.find(({ breakerName }) => breakerName === change.provider);
    known?.health.follow(change, Date.now());
  }

  /** Resolves when no exchange is left, of whatever configuration. */
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
