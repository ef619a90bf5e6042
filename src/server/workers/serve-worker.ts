import type { Socket } from 'node:net';
import { rebuildConfig } from '../../config/config.ts';
import { toGatewayError } from '../../errors.ts';
import type { PreparedConfig } from '../../gateway/active-config.ts';
import { extendAddressAttemptTimeout } from '../../lib/address-attempts.ts';
import { type CounterReply, RemoteCounters } from '../../limits/shared-counters.ts';
import type { BreakerChange } from '../../providers/health.ts';
import type { OpenCounts } from '../../record/gauges.ts';
import { openRecorder } from '../recording.ts';
import { type ServerHandle, serveHere } from '../server-handle.ts';
import type { OpenBreakerChannel } from '../shared-state.ts';
import { confirmMs, uptimeMs, type WorkerCommand, type WorkerMessage, type WorkerStart } from './messages.ts';

// The entry of a worker process, which serves the connections that its parent accepts. It runs the parent's commands one
// after the other.

// Ctrl-C reaches every process of a terminal; only the parent acts on signals.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
extendAddressAttemptTimeout();
process.stderr.on('error', () => undefined); // it has no reader any more
process.once('disconnect', () => {
  server?.settleOpen();
  process.exit(); // the parent is gone
});

let server: ServerHandle | undefined;
let prepared: PreparedConfig | undefined;
let following = Promise.resolve();
let countings = 0;
const counting = new Map<number, (open: OpenCounts) => void>();
// Its answers must not wait behind commands.
const counters = new RemoteCounters(send);
let followBreaker: (change: BreakerChange) => void = () => undefined;
let takeConnection: ((socket: Socket) => void) | undefined;
let unwritten: number | undefined;
process.on('message', (command: WorkerCommand, socket: Socket | undefined) => {
  if (command.kind === 'connection') return receiveConnection(command, socket);
  if (command.kind === 'limits.granted' || command.kind === 'limits.unavailable')
    return counters.receive(command);
  if (command.kind === 'breaker') return followBreaker(command.change);
  if (command.kind === 'read') return void read(command);
  if (command.kind === 'counted') return counting.get(command.id)?.(command.open);
  following = following.then(() => (command.kind === 'announce' ? server?.announce() : answerTo(command)));
});
send({ kind: 'done' });

type OrderedCommand = Exclude<
  WorkerCommand,
  CounterReply | { kind: 'breaker' | 'read' | 'counted' | 'connection' | 'announce' }
>;

/** The socket is undefined if its client has left meanwhile. */
function receiveConnection(
  { id, untilMs }: Extract<WorkerCommand, { kind: 'connection' }>,
  socket: Socket | undefined,
): void {
  const isLate = uptimeMs() > untilMs;
  send({ kind: 'taken', id, isLate });
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
    send({ kind: 'done' });
  } catch (thrown) {
    const { message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
    const { code } = toGatewayError(thrown);
    send({ kind: 'failed', code, message, cause: stack ?? message });
  }
}

async function follow(command: OrderedCommand): Promise<void> {
  switch (command.kind) {
    case 'start':
      return start(command.start);
    case 'prepare':
      prepared = await server?.prepare(rebuildConfig(command.next.config), command.next.sandboxUrl);
      return;
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
      send({ kind: 'drained', unwritten });
      process.stderr.write('', () => process.exit()); // flushes what was written before
      return new Promise(() => undefined);
  }
}

async function start({ workers, recording, startedMs, isAnnounced, ...options }: WorkerStart): Promise<void> {
  const recorder = openRecorder(recording, process.stderr);
  process.once('exit', () => recorder.close());
  server = await serveHere({
    ...options,
    config: rebuildConfig(options.config),
    record: recorder.write,
    log: recorder.log,
    worker: {
      count: workers,
      startedMs,
      accepted: {
        subscribe: (take) => {
          takeConnection = take;
        },
      },
      counters,
      breakers: siblingBreakers,
      countOpen,
      onLedgerClosed: (count) => {
        unwritten = count;
      },
    },
  });
  if (isAnnounced) server.announce();
}

/** The parent passes changes on to the other workers. */
const siblingBreakers: OpenBreakerChannel = {
  publish: (change) => send({ kind: 'breaker', change }),
  subscribe: (listener) => {
    followBreaker = listener;
  },
  close: () => undefined,
};

async function read({ id, what }: Extract<WorkerCommand, { kind: 'read' }>): Promise<void> {
  if (server === undefined) return;
  const open = await server.countOpen();
  // If they can't be read, the parent's timeout handles it.
  const metrics = what === 'metrics' ? await server.readMetrics().catch(() => undefined) : [];
  if (metrics !== undefined) send({ kind: 'reading', id, reading: { open, metrics: metrics.flat() } });
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
    send({ kind: 'count.open', id });
  });
}

function send(message: WorkerMessage): void {
  process.send?.(message);
}
