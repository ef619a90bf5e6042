import type { Socket } from 'node:net';
import { type Config, rebuildConfig } from '../../config/config.ts';
import { toGatewayError } from '../../errors.ts';
import type { PreparedConfig } from '../../gateway/active-config.ts';
import type { GatewayConfig } from '../../gateway/gateway.ts';
import { type GatewayServer, serveGateway } from '../../gateway/serve.ts';
import type { Counters } from '../../limits/counters.ts';
import { type CounterAnswer, RemoteCounters } from '../../limits/shared-counters.ts';
import type { BreakerChange, BreakerChannel } from '../../providers/health.ts';
import type { Ledger } from '../../record/ledger/ledger.ts';
import type { OpenCounts } from '../../record/observer.ts';
import type { Tracer } from '../../record/tracing/tracer.ts';
import { TickQueue } from '../../tick-queue.ts';
import { gatewayConfig } from '../gateway-config.ts';
import { openLedgerFor } from '../ledger.ts';
import type { Meter } from '../metrics/meter.ts';
import { openRecorder } from '../recording.ts';
import { letHeapGrow } from '../server-handle.ts';
import { type OpenBreakerChannel, openBreakers, openCounters, rereadAdded } from '../shared-state.ts';
import { openMeter, openTracer } from '../telemetry.ts';
import {
  confirmMs,
  uptimeMs,
  type WorkerAnswer,
  type WorkerCommand,
  type WorkerConfig,
  type WorkerStart,
} from './messages.ts';

// The entry of a worker process, which serves the connections that its parent accepts. It runs the parent's commands one
// after the other.

// Ctrl-C reaches every process of a terminal; only the parent acts on signals.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.stderr.on('error', () => undefined); // nobody reads it any more
process.once('disconnect', () => process.exit()); // the parent is gone

let server: GatewayServer | undefined;
let prepared: PreparedConfig | undefined;
let workers = 1;
let following = Promise.resolve();
let countings = 0;
const counting = new Map<number, (open: OpenCounts) => void>();
// Limits are counted in the parent, or in Redis. Its answers must not wait behind commands.
const shared = new RemoteCounters(answer);
let counters: Counters = shared;
let ledger: Ledger | undefined;
let followBudgets: (next: Config) => void = () => undefined;
let meter: Meter | undefined;
let breakers: OpenBreakerChannel | undefined;
let followBreaker: (change: BreakerChange) => void = () => undefined;
let tracer: Tracer | undefined;
let isAnnounced = false;
let takeConnection: ((socket: Socket) => void) | undefined;
process.on('message', (command: WorkerCommand, socket: Socket | undefined) => {
  if (command.kind === 'connection') return receiveConnection(command, socket);
  if (command.kind === 'limits.granted' || command.kind === 'limits.unavailable')
    return shared.receive(command);
  if (command.kind === 'breaker') return followBreaker(command.change);
  if (command.kind === 'announce') {
    isAnnounced = true;
    return;
  }
  if (command.kind === 'read') return void read(command);
  if (command.kind === 'counted') return counting.get(command.id)?.(command.open);
  following = following.then(() => answerTo(command));
});
answer({ kind: 'done' });

type OrderedCommand = Exclude<
  WorkerCommand,
  CounterAnswer | { kind: 'breaker' | 'read' | 'counted' | 'connection' | 'announce' }
>;

/** The socket is undefined if its client has left meanwhile. */
function receiveConnection(
  { id, untilMs }: Extract<WorkerCommand, { kind: 'connection' }>,
  socket: Socket | undefined,
): void {
  const isLate = uptimeMs() > untilMs;
  answer({ kind: 'taken', id, isLate });
  if (socket === undefined) return;
  // This process was held up, perhaps just now: closed, not shut down, because another one has it, or gets it now.
  if (isLate || uptimeMs() > untilMs + confirmMs) return void socket.destroy();
  // As Node's server sets them up that accepts by itself.
  socket.allowHalfOpen = true;
  socket.setNoDelay(true);
  if (takeConnection === undefined) return void socket.destroy();
  takeConnection(socket);
  socket.resume();
}

async function answerTo(command: OrderedCommand): Promise<void> {
  try {
    await follow(command);
    answer({ kind: 'done' });
  } catch (thrown) {
    const { message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
    const { code } = toGatewayError(thrown);
    answer({ kind: 'failed', code, message, cause: stack ?? message });
  }
}

async function follow(command: OrderedCommand): Promise<void> {
  switch (command.kind) {
    case 'start':
      return start(command.start);
    case 'prepare':
      return prepare(command.next);
    case 'commit':
      prepared?.commit();
      prepared = undefined;
      return;
    case 'discard':
      prepared?.discard();
      prepared = undefined;
      return;
    case 'drain':
      await server?.drain();
      meter?.close();
      breakers?.close();
      await tracer?.close();
      await counters.close();
      await ledger?.close();
      answer({ kind: 'drained', unwritten: ledger?.gauges.unwritten });
      process.stderr.write('', () => process.exit()); // flushes what was written before
      return new Promise(() => undefined);
  }
}

async function start(options: WorkerStart): Promise<void> {
  const { host, port, startedMs } = options;
  workers = options.workers;
  isAnnounced ||= options.isAnnounced;
  letHeapGrow();
  const recorder = openRecorder(options.recording, process.stderr);
  process.once('exit', () => recorder.close());
  const config = rebuildConfig(options.config);
  const isShared = config.state.url !== undefined;
  // With in-memory counters the parent knows what the budgets have used.
  const budgets = { ...config, ...(!isShared && { limits: [] }) };
  const ticks = new TickQueue();
  const opened = options.ledger && (await openLedgerFor(options.ledger, budgets, recorder.log, ticks));
  ledger = opened?.ledger;
  if (isShared) {
    counters = await openCounters(config, recorder.log, opened);
    let current = config;
    followBudgets = (next) => {
      opened?.follow(next);
      rereadAdded(counters, current, next);
      current = next;
    };
  }
  breakers = await openBreakers(config);
  meter = await openMeter(config);
  tracer = await openTracer(options.tracing, recorder.log);
  const { limits } = config.server;
  server = await serveGateway({
    host,
    port,
    limits: { ...limits, connections: share(limits.connections) },
    accepted: {
      subscribe: (take) => {
        takeConnection = take;
      },
    },
    config: withShares(config, options.sandboxUrl),
    record: recorder.write,
    counters,
    ledger,
    ticks,
    breakers: breakers ?? siblingBreakers,
    startedMs,
    ownerProof: options.ownerProof,
    tracer,
    observers: meter === undefined ? [] : [meter.observer],
    countOpen,
    isAnnounced: () => isAnnounced,
  });
}

/** Without Redis, the parent passes changes on to the other workers. */
const siblingBreakers: BreakerChannel = {
  publish: (change) => answer({ kind: 'breaker', change }),
  subscribe: (listener) => {
    followBreaker = listener;
  },
};

function prepare({ config: source, sandboxUrl }: WorkerConfig): void {
  const config = rebuildConfig(source);
  const next = server?.prepare(withShares(config, sandboxUrl));
  prepared = next && {
    commit: () => {
      next.commit();
      followBudgets(config);
      meter?.follow(config);
    },
    discard: next.discard,
  };
}

async function read({ id, what }: Extract<WorkerCommand, { kind: 'read' }>): Promise<void> {
  if (server === undefined) return;
  const { open } = server.gauges();
  // If it can't be read, the parent's timeout handles it.
  const metrics = what === 'metrics' ? await meter?.read(server, counters).catch(() => undefined) : [];
  if (metrics !== undefined) answer({ kind: 'reading', id, reading: { open, metrics } });
}

/** What is open in all workers, which the parent knows. */
function countOpen(): Promise<OpenCounts> {
  countings += 1;
  const id = countings;
  return new Promise((resolve) => {
    counting.set(id, (open) => {
      counting.delete(id);
      resolve(open);
    });
    answer({ kind: 'count.open', id });
  });
}

function withShares(config: Config, sandboxUrl: string | undefined): GatewayConfig {
  const whole = gatewayConfig(config, sandboxUrl);
  const providers = whole.providers.map((each) => ({ ...each, connections: share(each.connections) }));
  // Half of it must be room enough for the largest body.
  const bodiesInFlightBytes = Math.max(share(whole.bodiesInFlightBytes), 2 * whole.bodyLimits.bodyBytes);
  return { ...whole, providers, bodiesInFlightBytes };
}

/** This process's share of a limit that applies to all workers together. */
function share(limit: number): number {
  return Math.max(1, Math.floor(limit / workers));
}

function answer(message: WorkerAnswer): void {
  process.send?.(message);
}
