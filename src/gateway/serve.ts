import { GatewayError } from '../errors.ts';
import { BodyMemory } from '../http/body.ts';
import { type AcceptedSockets, type Listener, type ListenLimits, listen } from '../http/listen.ts';
import type { HttpRequest } from '../http/request.ts';
import type { HttpResponse } from '../http/response.ts';
import { SwapRemoveList } from '../lib/swap-remove-list.ts';
import { TickQueue } from '../lib/tick-queue.ts';
import type { Counters } from '../limits/counters.ts';
import { MemoryCounters } from '../limits/memory-counters.ts';
import type { Provider } from '../providers/provider.ts';
import type { Gauges, OpenCounts, ProviderGauges } from '../record/gauges.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import type { WriteRecord } from '../record/record.ts';
import { foldRepeats } from '../record/recorder.ts';
import { ActiveConfig } from './active-config.ts';
import { Exchange, type Follow } from './exchange.ts';
import type { GatewayConfig, ProcessState } from './gateway.ts';
import { type HeapWatch, watchHeap } from './heap-watch.ts';
import type { Dependencies, HealthzSources, Readiness } from './local-endpoints/health.ts';
import type { EndedExchange } from './subscriber.ts';

export interface GatewayServer {
  readonly url: string;
  readonly port: number;
  /** See `ActiveConfig`. */
  readonly prepare: ActiveConfig['prepare'];
  /** Makes the first exchange as quick as those after it, while none is open. */
  warmUp(): Promise<void>;
  /** What is open now. */
  gauges(): Gauges;
  /** Enters all that is open in the ledger with what is known of it, before the process ends at once. */
  settleOpen(): void;
  /** Refuses new work, lets open exchanges finish for a while, then cuts them. Resolves when nothing is open. */
  drain(): Promise<void>;
}

/** Pages of the gateway's own. */
export interface LocalPages {
  takes(request: HttpRequest): boolean;
  handle(request: HttpRequest, response: HttpResponse): void;
}

type OwnState = 'ticks' | 'counters' | 'ledger' | 'breakers' | 'onRefusedKey' | 'deciderEntry';

/**
 * Whoever opened a ledger owns it, and must close it after the drain. Without them: limits are counted in
 * memory, the gateway starts now, is ready at once, and counts what is open in this process.
 */
interface ServeOptions
  extends Partial<Pick<ProcessState, OwnState>>,
    Partial<Pick<Readiness, 'isAnnounced'>>,
    Partial<Pick<HealthzSources, 'ownerProof'>> {
  readonly host: string;
  readonly port: number;
  readonly limits: ListenLimits;
  /** Connections that another process has accepted, in place of listening. */
  readonly accepted?: AcceptedSockets | undefined;
  readonly config: GatewayConfig;
  readonly record: WriteRecord;
  readonly startedMs?: number | undefined;
  /** What is open in all processes, if several workers share the port. */
  readonly countOpen?: HealthzSources['countOpen'] | undefined;
  /** Who follows each exchange, before its record is written. */
  readonly followers?: readonly Follow[];
  /** Answers what it takes, the paths below `/_/`, which are not exchanges. */
  readonly inspector?: LocalPages | undefined;
}

/** Starts the proxy. Throws port.busy and what an unusable address throws. */
export async function serveGateway(options: ServeOptions): Promise<GatewayServer> {
  const { host, port, limits, accepted, ledger, breakers, counters = new MemoryCounters() } = options;
  const open = new SwapRemoveList<Exchange>();
  const memory = watchHeap(() => open.items.length > 0);
  const repeats = foldRepeats(options.record);
  let listener: Listener | undefined;
  const state: ProcessState = {
    ticks: options.ticks ?? new TickQueue(),
    bodyMemory: new BodyMemory(),
    counters,
    ledger,
    breakers,
    onRefusedKey: options.onRefusedKey,
    deciderEntry: options.deciderEntry,
    admit: () => admit(listener, memory),
    startedMs: options.startedMs ?? Date.now(),
    readiness: {
      isDraining: () => listener?.isDraining !== false,
      isAnnounced: options.isAnnounced ?? (() => true),
      dependencies: () => dependenciesOf(counters, ledger),
    },
    health: {
      ownerProof: options.ownerProof,
      countOpen: options.countOpen ?? (() => countExchanges(open.items)),
    },
  };
  const active = new ActiveConfig(options.config, state);
  breakers?.subscribe((change) => active.followBreaker(change));

  const recorder = { ended: ({ record, repeatKey }: EndedExchange) => repeats.write(record, repeatKey) };
  // Followers see every exchange; only the written records collapse repeated refusals.
  const followers = [...(options.followers ?? []), () => recorder];
  const onRequest = requestHandler(options.inspector, { open, active, followers });
  const server = await listen({ host, port, limits, accepted, ticks: state.ticks, onRequest });
  listener = server;
  server.stopSignal.addEventListener('abort', () => cut(open));

  return {
    url: server.url,
    port: server.port,
    prepare: (next) => active.prepare(next),
    warmUp: () =>
      active.warmUp({ isBusy: () => open.items.length > 0, isOver: () => listener?.isDraining === true }),
    gauges: () => ({
      open: countExchanges(open.items),
      providers: active.providers.map(gaugesOf),
      ledger: ledger?.gauges,
      isStateShared: counters.isConnected,
    }),
    settleOpen: () => settleAll(open),
    drain: async () => {
      await server.drain();
      memory.stop();
      // The caller may close ledger and records next, so no exchange may be left.
      await active.close();
      repeats.close();
    },
  };
}

/** Throws if no new exchange can begin. */
function admit(listener: Listener | undefined, memory: HeapWatch): void {
  if (listener?.isDraining) {
    throw new GatewayError('gateway.draining', 'the gateway is stopping', { retryAfterS: 5 });
  }
  if (memory.isScarce()) {
    throw new GatewayError('gateway.overloaded', 'the gateway has no memory to spare; try again shortly', {
      retryAfterS: 1,
    });
  }
}

interface Served {
  readonly open: SwapRemoveList<Exchange>;
  readonly active: ActiveConfig;
  readonly followers: readonly Follow[];
}

function requestHandler(
  inspector: LocalPages | undefined,
  { open, active, followers }: Served,
): (request: HttpRequest, response: HttpResponse) => void {
  return (request, response) => {
    if (inspector?.takes(request)) return inspector.handle(request, response);
    const exchange = new Exchange(request, response, { scrubber: active.scrubber, followers });
    open.add(exchange);
    response.onClose(() => {
      open.remove(exchange);
      if (!response.isFinished) exchange.lifetime.end(new GatewayError('client.left', 'the client left'));
    });
    active.run(exchange);
  };
}

/** Ends all exchanges, each with an error event. */
function cut(open: SwapRemoveList<Exchange>): void {
  for (const exchange of [...open.items]) exchange.lifetime.end(stopped());
}

/** Enters all exchanges in the ledger with what is known of them. */
function settleAll(open: SwapRemoveList<Exchange>): void {
  for (const exchange of [...open.items]) exchange.abandon(stopped());
}

function stopped(): GatewayError {
  return new GatewayError('gateway.draining', 'the gateway stopped');
}

function gaugesOf({ label, admission, health }: Provider): ProviderGauges {
  const { active, queued } = admission;
  return { name: label, active, queued, isOpen: health.isHostOpen, openModels: health.openModels };
}

/** Leaves out the health checks of the owner's own commands. */
function countExchanges(open: readonly Exchange[]): OpenCounts {
  const others = open.filter(({ record }) => record.isKept);
  return { exchanges: others.length, streams: others.filter(({ record }) => record.soFar.stream).length };
}

function dependenciesOf({ isConnected }: Counters, ledger: Ledger | undefined): Dependencies {
  const state = isConnected ? 'ok' : 'redis away';
  if (ledger === undefined) return { state, ledger: 'off' };
  const { isWritable, isMoving } = ledger.gauges;
  return { state, ledger: isWritable && isMoving ? 'ok' : 'failing' };
}
