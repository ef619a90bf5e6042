import { GatewayError } from '../errors.ts';
import { type Listener, type ListenLimits, listen } from '../http/listen.ts';
import type { HttpRequest } from '../http/request.ts';
import type { HttpResponse } from '../http/response.ts';
import type { Counters } from '../limits/counters.ts';
import { MemoryCounters } from '../limits/memory-counters.ts';
import type { OwnerProof } from '../owner-proof.ts';
import type { BreakerChannel } from '../providers/breaker-channel.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import type { ExchangeObserver, Gauges, OpenCounts } from '../record/observer.ts';
import type { WriteRecord } from '../record/record.ts';
import { foldRepeats } from '../record/repeats.ts';
import { TimeText } from '../record/time-text.ts';
import type { Tracer } from '../record/tracing/tracer.ts';
import { SwapRemoveList } from '../swap-remove-list.ts';
import { TickQueue } from '../tick-queue.ts';
import {
  type ConfiguredGateway,
  configureGateway,
  type GatewayConfig,
  type ProcessState,
} from './configure.ts';
import { Exchange } from './exchange.ts';
import type { Health, Readiness } from './local-endpoints/health.ts';
import { countExchanges, dependenciesOf, gaugesOf, observe } from './observe.ts';
import { watchHeap } from './watch-heap.ts';

export interface GatewayServer {
  readonly url: string;
  readonly port: number;
  /** Builds what a configuration needs, and throws if it can't be applied; nothing changes until `commit`. */
  prepare(config: GatewayConfig): PreparedConfig;
  /** Prepares and commits in one step. */
  apply(config: GatewayConfig): void;
  /** What is open now. */
  gauges(): Gauges;
  /** Refuses new work, lets open exchanges finish for a while, then cuts them. Resolves when nothing is open. */
  drain(): Promise<void>;
}

export interface PreparedConfig {
  /** New exchanges follow the configuration from now on; those in flight keep theirs. */
  commit(): void;
  discard(): void;
}

/** Pages of the gateway's own. */
export interface LocalPages {
  handle(request: HttpRequest, response: HttpResponse): void;
}

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly limits: ListenLimits;
  readonly config: GatewayConfig;
  readonly record: WriteRecord;
  /** Where limits are counted; in memory by default. The counters outlive every configuration. */
  readonly counters?: Counters;
  /** None by default. Owned by whoever opened it, who must close it after the drain. */
  readonly ledger?: Ledger | undefined;
  /** Shares breakers with other processes. */
  readonly breakers?: BreakerChannel | undefined;
  /** Notified of every exchange that is over. */
  readonly observers?: readonly ExchangeObserver[];
  /** Answers the paths below `/_/`, which are not exchanges. */
  readonly inspector?: LocalPages | undefined;
  /** Owned by whoever opened it, who must close it after the drain. */
  readonly tracer?: Tracer | undefined;
  /** The proof in the user's state file: shows that this is the gateway that wrote the file. */
  readonly ownerProof?: OwnerProof | undefined;
  /** What is open in all processes, if several workers share the port. */
  readonly countOpen?: () => Promise<OpenCounts>;
  /** When the gateway started, shown as the date of models without one; now by default. */
  readonly startedMs?: number;
  /** The module that runs in the decision thread; the product's own by default. */
  readonly deciderEntry?: URL;
}

/** Starts the proxy. Throws port.busy and what an unusable address throws. */
export async function serveGateway({
  host,
  port,
  limits,
  config,
  record,
  counters = new MemoryCounters(),
  ledger,
  breakers,
  observers = [],
  inspector,
  tracer,
  startedMs = Date.now(),
  deciderEntry,
  ownerProof,
  countOpen,
}: ServeOptions): Promise<GatewayServer> {
  const open = new SwapRemoveList<Exchange>();
  const memory = watchHeap();
  let listener: Listener | undefined;

  const admit = () => {
    if (listener?.isDraining)
      throw new GatewayError('gateway.draining', 'the gateway is stopping', { retryAfterS: 5 });
    if (memory.isScarce()) {
      throw new GatewayError('gateway.overloaded', 'the gateway has no memory to spare; try again shortly', {
        retryAfterS: 1,
      });
    }
  };
  const repeats = foldRepeats(record);
  const readiness: Readiness = {
    isReady: () => listener?.isDraining === false,
    dependencies: () => dependenciesOf(counters, ledger),
  };
  const times = new TimeText();
  const countHere = () => countExchanges(open.items);
  const health: Health = { ownerProof, countOpen: countOpen ?? countHere };
  const ticks = new TickQueue();
  const state: ProcessState = {
    ticks,
    counters,
    ledger,
    breakers,
    tracer,
    record: observe(repeats.write, observers),
    deciderEntry,
    admit,
    startedMs,
    readiness,
    health,
  };
  const follower = observers.find(({ trace }) => trace !== undefined);
  let current = configureGateway(config, state);
  /** Replaced configurations whose last exchanges are not over. */
  const retiring = new Set<Promise<void>>();
  breakers?.subscribe((change) => {
    const known = current.providers.find(({ breakerName }) => breakerName === change.provider);
    known?.health.follow(change, Date.now());
  });

  const server = await listen({
    host,
    port,
    limits,
    ticks,
    onRequest: (request, response) => {
      if (inspector !== undefined && request.target.startsWith('/_/')) {
        return inspector.handle(request, response);
      }
      const exchange = new Exchange(request, response, times);
      exchange.trace = follower?.trace?.(exchange);
      open.add(exchange);
      response.onClose(() => open.remove(exchange));
      current.run(exchange);
    },
  });
  listener = server;
  server.stopSignal.addEventListener('abort', () => {
    for (const exchange of [...open.items])
      exchange.lifetime.end(new GatewayError('gateway.draining', 'the gateway stopped'));
  });

  const prepare = (next: GatewayConfig): PreparedConfig => {
    const built = configureGateway(next, state, current);
    const close = (retired: ConfiguredGateway) => {
      // If the whole gateway stops meanwhile, its connections are gone already.
      const closed = retired.close().catch(() => undefined);
      retiring.add(closed);
      void closed.then(() => retiring.delete(closed));
    };
    return {
      commit: () => {
        const previous = current;
        current = built;
        close(previous);
      },
      discard: () => close(built),
    };
  };

  return {
    url: server.url,
    port: server.port,
    prepare,
    gauges: () => ({
      open: countHere(),
      providers: current.providers.map(gaugesOf),
      ledger: ledger?.gauges,
      isStateShared: counters.isConnected,
    }),
    apply: (next) => prepare(next).commit(),
    drain: async () => {
      await server.drain();
      memory.stop();
      // Whoever called may close ledger and records next: no exchange, of whatever configuration, is left by then.
      await Promise.all([current.close(), ...retiring]);
      repeats.close();
    },
  };
}
