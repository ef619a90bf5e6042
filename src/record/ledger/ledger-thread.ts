import { existsSync, readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { sqliteFailure } from '../../database/failures.ts';
import { loadSqlite } from '../../database/sqlite-engine.ts';
import { backoffMs } from '../../lib/backoff.ts';
import { messageOfError } from '../../lib/message-of.ts';
import {
  lockedOwners,
  lockOwner,
  type OwnerLock,
  removeLock,
  stateOfOwner,
  youngMs,
} from './journal/owner-lock.ts';
import {
  type Damage,
  type JournalSegment,
  listSegments,
  moveSegment,
  settleOwner,
} from './journal/segments.ts';
import type { LedgerCommand, LedgerMessage, LedgerThreadData } from './ledger.ts';
import type { Sums } from './ledger-columns.ts';
import type { LedgerStore } from './ledger-store.ts';
import { openStore } from './open-store.ts';
import { LedgerFailure } from './read-ledger.ts';
import { ThreadLock } from './thread-lock.ts';

// The entry of the thread that moves the journal into the database: closed segments of this process as they come, and all
// segments of processes that are gone, at the start and then now and then.

/** Of nice(1): gets about a tenth of a core that the main thread wants whole, and all of it otherwise. */
const niceness = 10;

/** On Linux a priority is of one thread (setpriority(2)); elsewhere there is no such file, and nothing changes. */
function yieldToExchanges(): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), niceness);
  } catch {}
}

yieldToExchanges();

const retry = { firstMs: 250, maxMs: 2_000 };
const maintainMs = 30_000;
const maintainAgainMs = 200;

const { place, retention, owner, lock: memory } = workerData as LedgerThreadData; // the gateway starts this thread with nothing else
const lock = new ThreadLock(memory);
const thread: {
  /** Closed segments of this process, oldest first, with what they add while that is needed soon. */
  readonly closed: { readonly segment: JournalSegment; readonly sums: Sums | undefined }[];
  readonly notices: Set<string>;
  ownerLock: OwnerLock | undefined;
  store: LedgerStore | undefined;
  isSettlingDue: boolean;
  failure: { readonly cause: unknown; readonly retryAt: number } | undefined;
  failures: number;
  running: Promise<void>;
} = {
  closed: [],
  notices: new Set(),
  ownerLock: undefined,
  store: undefined,
  isSettlingDue: true,
  failure: undefined,
  failures: 0,
  running: Promise.resolve(),
};

parentPort?.on('message', (command: LedgerCommand) => {
  switch (command.kind) {
    case 'move':
      // In an outage of hours only the files are kept.
      thread.closed.push({
        segment: command.segment,
        sums: thread.failure === undefined ? command.sums : undefined,
      });
      return enqueue(work);
    case 'close':
      enqueue(async () => {
        thread.failure = undefined; // the last attempt is made at once
        await work();
        await close();
      });
  }
});
enqueue(work);
setTimeout(maintain, maintainMs).unref();

/** One step at a time. With SQLite it is native code: the process must not end meanwhile. */
function enqueue(step: () => Promise<void>): void {
  thread.running = thread.running.then(async () => {
    if (lock.isProcessEnding) return;
    if (place.path !== undefined) lock.acquire();
    try {
      await step();
    } catch (error) {
      notify(`the journal of the ledger: ${messageOfError(error)}`);
    } finally {
      if (place.path !== undefined) lock.release();
    }
  });
}

/** Again if the folder had disappeared, and the lock with it. */
async function lockJournal(): Promise<void> {
  if (thread.ownerLock?.isHeld === true) return;
  try {
    thread.ownerLock?.release({ isLast: true });
    thread.ownerLock = lockOwner(await loadSqlite(), place.journal, owner);
  } catch {
    // Without a folder nothing is written either.
  }
}

/** Moves everything that can be moved, oldest first. */
async function work(): Promise<void> {
  await lockJournal();
  if (thread.failure !== undefined && performance.now() < thread.failure.retryAt) return;
  try {
    const opened = await open();
    if (thread.isSettlingDue) await settleGone(opened);
    thread.isSettlingDue = false;
    for (let next = thread.closed[0]; next !== undefined; next = thread.closed[0]) {
      if (lock.isProcessEnding) return;
      await moveOwn(opened, next);
      thread.closed.shift();
      send({ kind: 'moved', path: next.segment.path });
    }
    if (thread.failure !== undefined) send({ kind: 'working' });
    thread.failure = undefined;
    thread.failures = 0;
  } catch (error) {
    await fail(error);
  }
}

async function open(): Promise<LedgerStore> {
  thread.store ??= await openStore(place);
  return thread.store;
}

async function moveOwn(store: LedgerStore, { segment, sums }: (typeof thread.closed)[number]): Promise<void> {
  const { path } = segment;
  try {
    noteDamage(await moveSegment({ store, keepsRows: retention.keepsRows }, segment, sums));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(path)) throw error;
    notify(`the segment ${path} of the ledger's journal has disappeared`);
  }
}

function settleLater(): void {
  thread.isSettlingDue = true;
  enqueue(work);
}

/** What other processes left behind; not what they are still writing. */
async function settleGone(opened: LedgerStore): Promise<void> {
  const sqlite = await loadSqlite();
  const segments = listSegments(place.journal).filter((segment) => segment.owner !== owner);
  const owners = new Set([...segments.map((segment) => segment.owner), ...lockedOwners(place.journal)]);
  for (const gone of owners) {
    const left = segments.filter((segment) => segment.owner === gone);
    const state = gone === owner ? 'alive' : stateOfOwner(sqlite, place.journal, gone, left);
    if (state === 'young') setTimeout(settleLater, youngMs).unref();
    if (state !== 'gone') continue;
    try {
      noteDamage(await settleOwner({ store: opened, keepsRows: retention.keepsRows }, left));
      removeLock(place.journal, gone);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') continue; // another process settles it
      if (code !== 'config.invalid') throw error;
      notify((error as Error).message); // of a newer version, which will read it
    }
  }
}

async function fail(error: unknown): Promise<void> {
  thread.failures += 1;
  const waitMs = backoffMs(thread.failures, retry);
  thread.failure = { cause: error, retryAt: performance.now() + waitMs };
  send({ kind: 'failing', cause: new LedgerFailure(error).message });
  const kind = sqliteFailure(error);
  // Reopened then: the connection may be broken, or somebody may replace the faulty file.
  if (kind !== 'full' && kind !== 'locked') await endStore();
  // Timers truncate fractions of a millisecond, and a timer that fired too early would not fire again.
  setTimeout(() => {
    if (thread.failure !== undefined) thread.failure = { ...thread.failure, retryAt: 0 };
    enqueue(work);
  }, waitMs).unref();
}

function maintain(): void {
  enqueue(async () => {
    thread.isSettlingDue = true;
    await work();
    let isMore = false;
    try {
      if (thread.failure === undefined)
        isMore = (await thread.store?.maintain(retention, Date.now())) ?? false;
    } catch {
      // A failing disk is noticed by the next commit; old rows can wait.
    }
    setTimeout(maintain, isMore ? maintainAgainMs : maintainMs).unref();
  });
}

async function close(): Promise<void> {
  await endStore();
  thread.ownerLock?.release({ isLast: thread.closed.length === 0 });
  parentPort?.close();
}

async function endStore(): Promise<void> {
  const ending = thread.store;
  thread.store = undefined;
  try {
    await ending?.close();
  } catch {
    // what was committed is safe
  }
}

function noteDamage(damage: readonly Damage[]): void {
  for (const { path, lines } of damage) {
    notify(`${lines} lines of the ledger's journal can't be read; the file is kept as ${path}`);
  }
}

/** Each only once. */
function notify(message: string): void {
  if (!thread.notices.has(message)) send({ kind: 'notice', message });
  thread.notices.add(message);
}

function send(message: LedgerMessage): void {
  parentPort?.postMessage(message);
}
