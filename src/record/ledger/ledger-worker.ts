import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { backoffMs } from '../../database/backoff.ts';
import { isConnectionLost } from '../../database/failures.ts';
import { sqliteFailure } from '../../database/sqlite-failure.ts';
import {
  type LedgerAnswer,
  type LedgerCommand,
  type LedgerThreadData,
  toChanges,
} from './ledger-messages.ts';
import type { LedgerChange, WantedSum } from './ledger-row.ts';
import type { LedgerPlace, LedgerStore } from './ledger-store.ts';
import { ThreadLock } from './thread-lock.ts';

// The entry of the thread that writes the ledger. All changes that arrive while one transaction is being committed
// become the next one.

const retry = { firstMs: 250, longestMs: 2_000 };
const maintainMs = 30_000;
const maintainAgainMs = 200;
/** Changes kept while the database can't be written. */
const waitingLimit = 200_000;

const { place, retention, lock: memory } = workerData as LedgerThreadData; // the gateway starts this thread with nothing else
const lock = new ThreadLock(memory);
const thread: {
  store: LedgerStore | undefined;
  wanted: readonly WantedSum[] | undefined;
  waiting: LedgerChange[];
  upTo: number;
  failures: number;
  cause: unknown;
  retryAt: number;
  running: Promise<void>;
} = {
  store: undefined,
  wanted: undefined,
  waiting: [],
  upTo: 0,
  failures: 0,
  cause: undefined,
  retryAt: 0,
  running: Promise.resolve(),
};
setTimeout(maintain, maintainMs).unref();

parentPort?.on('message', (first: LedgerCommand) => {
  let isClosing = false;
  for (let next: LedgerCommand | undefined = first; next !== undefined; next = receive()) {
    if (next.kind === 'open') thread.wanted = next.wanted;
    else if (next.kind === 'close') isClosing = true;
    else if (next.kind === 'sum') sumLater(next);
    else add(next);
  }
  // On closing, the last attempt is made at once.
  if (isClosing) thread.retryAt = 0;
  proceed();
  if (isClosing) enqueue(close);
});

function receive(): LedgerCommand | undefined {
  return parentPort === null
    ? undefined
    : (receiveMessageOnPort(parentPort)?.message as LedgerCommand | undefined);
}

function add({ json, upTo }: Extract<LedgerCommand, { kind: 'changes' }>): void {
  thread.upTo = upTo;
  const changes = toChanges(json);
  const kept = changes.slice(0, Math.max(0, waitingLimit - thread.waiting.length));
  thread.waiting.push(...kept);
  if (kept.length < changes.length) answer({ kind: 'lost', changes: changes.length - kept.length });
}

function proceed(): void {
  enqueue(work);
}

/** Runs one step at a time: while the database is being opened or written, changes accumulate. Steps never reject. */
function enqueue(step: () => Promise<void>): void {
  thread.running = thread.running.then(place.path === undefined ? step : () => withLock(step));
}

/** A step with SQLite is native code: the process must not end meanwhile. */
async function withLock(step: () => Promise<void>): Promise<void> {
  lock.acquire();
  await step();
  lock.release();
}

async function work(): Promise<void> {
  if (thread.cause !== undefined && performance.now() < thread.retryAt) return answerFailed();
  const { waiting, upTo } = thread;
  thread.waiting = [];
  try {
    if (thread.store === undefined || thread.wanted !== undefined) await open();
    if (waiting.length > 0) await thread.store?.commit(waiting);
    thread.cause = undefined;
    thread.failures = 0;
    if (upTo > 0) answer({ kind: 'committed', upTo });
  } catch (error) {
    thread.waiting = [...waiting, ...thread.waiting];
    await fail(error);
  }
}

async function open(): Promise<void> {
  thread.store ??= await openLedgerStore(place); // it stays open where only the sums could not be read
  const { wanted } = thread;
  if (wanted === undefined) return;
  answer({ kind: 'opened', sums: await thread.store.sums(wanted) });
  thread.wanted = undefined;
}

async function fail(error: unknown): Promise<void> {
  thread.cause = error;
  thread.failures += 1;
  const waitMs = backoffMs(thread.failures, retry);
  thread.retryAt = performance.now() + waitMs;
  answerFailed();
  const kind = sqliteFailure(error);
  if (kind !== 'full' && kind !== 'locked') {
    // Reopen: the connection may be broken, or somebody may replace the faulty file.
    await endStore();
  }
  // Timers truncate fractions of a millisecond, and a timer that fired too early would not fire again.
  setTimeout(() => {
    thread.retryAt = 0;
    proceed();
  }, waitMs).unref();
}

function answerFailed(): void {
  const { cause, upTo } = thread;
  answer({ kind: 'failed', upTo, cause: messageOf(cause), isAway: isConnectionLost(cause) });
}

/** Sums after everything that was sent before, and only if that was committed. */
function sumLater({ id, wanted }: Extract<LedgerCommand, { kind: 'sum' }>): void {
  proceed();
  enqueue(async () => {
    try {
      if (thread.cause !== undefined || thread.store === undefined) throw thread.cause ?? 'it is not open';
      answer({ kind: 'summed', id, sums: await thread.store.sums(wanted) });
    } catch (error) {
      answer({ kind: 'sum failed', id, cause: messageOf(error) });
    }
  });
}

function maintain(): void {
  enqueue(async () => {
    let isMore = false;
    try {
      isMore = (await thread.store?.maintain(retention, Date.now())) ?? false;
    } catch {
      // A failing disk is noticed by the next commit; old rows can wait.
    }
    setTimeout(maintain, isMore ? maintainAgainMs : maintainMs).unref();
  });
}

async function close(): Promise<void> {
  if (thread.waiting.length > 0) answer({ kind: 'lost', changes: thread.waiting.length });
  await endStore();
  parentPort?.close();
}

async function endStore(): Promise<void> {
  const { store } = thread;
  thread.store = undefined;
  try {
    await store?.close();
  } catch {
    // what was committed is safe
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's AggregateError for failing to connect to several addresses has no message.
  const { code } = error as NodeJS.ErrnoException;
  return error.message || code || error.name;
}

function answer(message: LedgerAnswer): void {
  parentPort?.postMessage(message);
}

/** Opens or creates the ledger, and settles what dead processes left open in it. Throws if it can't be used. */
async function openLedgerStore({ path, url }: LedgerPlace): Promise<LedgerStore> {
  if (path !== undefined) return (await import('./ledger-file.ts')).openLedgerFile(path);
  return (await import('./postgres-ledger.ts')).openPostgresLedger(url);
}
