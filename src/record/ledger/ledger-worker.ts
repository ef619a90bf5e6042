import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { sqliteFailure } from '../../database/sqlite-failure.ts';
import { type LedgerFile, openLedgerFile } from './ledger-file.ts';
import {
  type LedgerAnswer,
  type LedgerCommand,
  type LedgerThreadData,
  toChanges,
} from './ledger-messages.ts';
import type { LedgerChange, WantedSum } from './ledger-row.ts';

// The entry of the thread that writes the ledger. Whatever arrived while one transaction was on its way to the disk
// becomes the next one.

const retryMs = 250;
const pruneMs = 60_000;
const pruneAgainMs = 200;
/** Changes kept while the file can't be written. */
const waitingLimit = 200_000;

const { path, retention } = workerData as LedgerThreadData; // the gateway starts this thread with nothing else
const thread: {
  file: LedgerFile | undefined;
  wanted: readonly WantedSum[] | undefined;
  waiting: LedgerChange[];
  upTo: number;
  cause: string | undefined;
  retryAt: number;
  running: Promise<void>;
} = {
  file: undefined,
  wanted: undefined,
  waiting: [],
  upTo: 0,
  cause: undefined,
  retryAt: 0,
  running: Promise.resolve(),
};
setTimeout(prune, pruneMs).unref();

parentPort?.on('message', (first: LedgerCommand) => {
  let isClosing = false;
  for (let next: LedgerCommand | undefined = first; next !== undefined; next = receive()) {
    if (next.kind === 'open') thread.wanted = next.wanted;
    else if (next.kind === 'close') isClosing = true;
    else add(next);
  }
  // The last attempt before the end is made at once.
  if (isClosing) thread.retryAt = 0;
  proceed();
  if (isClosing) void thread.running.then(close);
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

/** One step after the other: while the file is being opened, changes gather. */
function proceed(): void {
  thread.running = thread.running.then(work);
}

/** Throws nothing. */
async function work(): Promise<void> {
  if (thread.cause !== undefined && performance.now() < thread.retryAt) {
    return answer({ kind: 'failed', upTo: thread.upTo, cause: thread.cause });
  }
  try {
    if (thread.file === undefined) await open();
    const { waiting, upTo, file } = thread;
    if (waiting.length > 0) file?.commit(waiting);
    thread.waiting = thread.waiting.slice(waiting.length);
    thread.cause = undefined;
    if (upTo > 0) answer({ kind: 'committed', upTo });
  } catch (error) {
    fail(error);
  }
}

async function open(): Promise<void> {
  thread.file = await openLedgerFile(path);
  const { wanted } = thread;
  if (wanted === undefined) return;
  answer({ kind: 'opened', sums: thread.file.sums(wanted) });
  thread.wanted = undefined;
}

function fail(error: unknown): void {
  thread.cause = error instanceof Error ? error.message : String(error);
  thread.retryAt = performance.now() + retryMs;
  answer({ kind: 'failed', upTo: thread.upTo, cause: thread.cause });
  const kind = sqliteFailure(error);
  if (kind !== 'full' && kind !== 'locked') {
    // The file itself is the problem: somebody may put another one in its place.
    try {
      thread.file?.close();
    } catch {
      // it is of no more use anyway
    }
    thread.file = undefined;
  }
  setTimeout(proceed, retryMs).unref();
}

function prune(): void {
  let isMore = false;
  try {
    isMore = thread.file?.prune(retention, Date.now()) ?? false;
  } catch {
    // A failing disk is noticed by the next commit; old rows can wait.
  }
  setTimeout(prune, isMore ? pruneAgainMs : pruneMs).unref();
}

function close(): void {
  if (thread.waiting.length > 0) answer({ kind: 'lost', changes: thread.waiting.length });
  try {
    thread.file?.close();
  } catch {
    // what was committed is safe in its log
  }
  answer({ kind: 'closed' });
  parentPort?.close();
}

function answer(message: LedgerAnswer): void {
  parentPort?.postMessage(message);
}
