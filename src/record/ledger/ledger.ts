import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { OutageCauses } from '../../outage-causes.ts';
import { TickQueue } from '../../tick-queue.ts';
import type { LedgerGauges } from '../observer.ts';
import { type ClosedSegment, Journal, type JournalEvent } from './journal/journal.ts';
import { beginLine, cancelLine, endLine } from './journal/journal-line.ts';
import type { LedgerAnswer, LedgerCommand, LedgerThreadData } from './ledger-messages.ts';
import type { Intent, KnownSum, LedgerRow, WantedSum } from './ledger-row.ts';
import type { LedgerPlace, Retention } from './ledger-store.ts';
import { ThreadLock } from './thread-lock.ts';
import { TickBatch } from './tick-batch.ts';

/** The journal or the database can't be written any more (once for each cause), or can again; or something else to know. */
export type LedgerEvent =
  | JournalEvent
  | { readonly kind: 'waiting'; readonly cause: string }
  | { readonly kind: 'moving' }
  | { readonly kind: 'notice'; readonly message: string };

export interface LedgerOptions {
  readonly place: LedgerPlace;
  readonly retention: Retention;
  /** Whether a beginning waits for the disk. */
  readonly isSynced?: boolean;
  /** Bytes that segments may take while the database can't be written. */
  readonly segmentBytes?: number;
  readonly onEvent: (event: LedgerEvent) => void;
  /** Shared with everything else that takes part in exchanges. */
  readonly ticks?: TickQueue | undefined;
}

/** Durable usage: a line when an exchange begins, where that is needed, and one when it is over. */
export interface Ledger {
  readonly gauges: LedgerGauges;
  /** Whether every exchange has a line at its beginning, and waits until that is on the disk. */
  readonly isSynced: boolean;
  /** Undefined if it is written when this returns; else resolves once it is. Rejects with LedgerFailure. */
  begin(intent: Intent): Promise<void> | undefined;
  /**
   * Undefined if it is written when this returns: from then on the exchange can't be lost. Else resolves once it is, or when
   * that takes too long; it never rejects.
   */
  finish(row: LedgerRow): Promise<void> | undefined;
  /** What has been used so far, including the worst case of everything that is open. Throws LedgerFailure. */
  sums(wanted: readonly WantedSum[]): Promise<readonly KnownSum[]>;
  /** Resolves when everything has been written and moved, as far as that is possible. */
  close(): Promise<void>;
}

/** Why the ledger could not be written or read. */
export class LedgerFailure extends Error {
  /** Whether the database just does not answer, so that the settings may be right. */
  readonly isAway: boolean;

  constructor(message: string, { isAway = false, cause }: { isAway?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isAway = isAway;
  }
}

interface Summing {
  readonly resolve: (sums: readonly KnownSum[]) => void;
  readonly reject: (failure: LedgerFailure) => void;
}

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const entry = import.meta.url.endsWith('.ts') ? '../../../dist/ledger-worker.js' : './ledger-worker.js';
/** Nobody waits longer for the disk; a beginning that takes longer counts as a failure. */
const longestWaitMs = 2_000;
const closeMs = 5_000;
const restartMs = 1_000;
const usualSegmentBytes = 256_000_000;

/**
 * This process's side of the ledger: it appends to the journal, and a worker thread moves closed segments into the
 * database.
 */
export class JournaledLedger implements Ledger {
  readonly isSynced: boolean;
  readonly #options: LedgerOptions;
  readonly #journal: Journal;
  readonly #begins: TickBatch<Intent>;
  readonly #ends: TickBatch<LedgerRow>;
  readonly #owner = randomUUID();
  #worker: Worker | undefined;
  /** Whether this process appends; one that does not only reads sums. */
  #isWriting = false;
  /** Closed segments that are not in the database yet. */
  readonly #closed = new Map<string, ClosedSegment>();
  readonly #summing = new Map<number, Summing>();
  #sumCount = 0;
  #isMoving = true;
  readonly #causes = new OutageCauses();
  #isClosing = false;
  #closing: Promise<void> | undefined;
  #onClosed: () => void = () => undefined;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.isSynced = options.isSynced === true;
    const { ticks = new TickQueue() } = options;
    this.#begins = new TickBatch(ticks, (intents) => this.#begin(intents));
    this.#ends = new TickBatch(ticks, (rows) => this.#finish(rows));
    this.#journal = new Journal({
      directory: options.place.journal,
      owner: this.#owner,
      isSynced: this.isSynced,
      onEvent: options.onEvent,
      onClosed: (segment) => {
        this.start(); // before this one is added: a new thread is told of all that are
        this.#closed.set(segment.path, segment);
        this.#post({ kind: 'move', path: segment.path });
      },
    });
  }

  get gauges(): LedgerGauges {
    const segments = [...this.#closed.values(), ...this.#journal.written].filter(({ lines }) => lines > 0);
    const oldest = segments[0];
    return {
      isWritable: !this.#journal.isFailing,
      isMoving: this.#isMoving,
      unwritten: this.#journal.unwritten,
      pending: segments.reduce((sum, { lines }) => sum + lines, this.#journal.unwritten),
      lagMs: oldest === undefined ? 0 : Math.max(0, Date.now() - oldest.sinceMs),
    };
  }

  /** Makes the first segment. Throws where that is impossible; it is retried then. */
  async startWriting(): Promise<void> {
    this.#isWriting = true;
    await this.#journal.start();
  }

  begin(intent: Intent): Promise<void> | undefined {
    return this.#begins.add(intent);
  }

  finish(row: LedgerRow): Promise<void> | undefined {
    return this.#ends.add(row);
  }

  sums(wanted: readonly WantedSum[]): Promise<readonly KnownSum[]> {
    this.#begins.flush();
    return new Promise((resolve, reject) => {
      this.#sumCount += 1;
      this.#summing.set(this.#sumCount, { resolve, reject });
      this.#post({ kind: 'sum', id: this.#sumCount, wanted });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  start(): void {
    if (this.#worker !== undefined || this.#isClosing) return;
    const { place, retention, segmentBytes = usualSegmentBytes } = this.#options;
    const owner = this.#isWriting ? this.#owner : undefined;
    const lock = new ThreadLock();
    const workerData: LedgerThreadData = { place, retention, owner, segmentBytes, lock: lock.memory };
    const worker = new Worker(new URL(entry, import.meta.url), { workerData, env: {}, name: 'ledger' });
    worker.on('message', (answer: LedgerAnswer) => this.#receive(answer));
    worker.on('error', (error) => this.#wait(error.message));
    worker.on('exit', lock.acquireAtExit(closeMs)).on('exit', () => this.#lose(worker));
    for (const path of this.#closed.keys())
      worker.postMessage({ kind: 'move', path } satisfies LedgerCommand);
    worker.unref(); // it does not keep a process that has nothing else to do
    this.#worker = worker;
  }

  #begin(intents: readonly Intent[]): Promise<void> | undefined {
    const lines = new Map(intents.map((intent) => [intent.requestId, beginLine(intent)]));
    const writing = this.#journal.begin(lines);
    return writing && this.#beginInTime([...lines.keys()], writing);
  }

  #finish(rows: readonly LedgerRow[]): Promise<void> | undefined {
    const writing = this.#journal.end(
      rows.map(({ requestId }) => requestId),
      rows.map(endLine).join(''),
    );
    return writing && inTime(writing).catch(() => undefined);
  }

  /** What is late is taken back; it may still be written, and the lines that take it back after it. */
  async #beginInTime(requestIds: readonly string[], writing: Promise<void>): Promise<void> {
    try {
      await inTime(writing);
    } catch (cause) {
      for (const requestId of requestIds) this.#journal.cancel(requestId, cancelLine(requestId));
      throw new LedgerFailure(cause instanceof Error ? cause.message : String(cause), { cause });
    }
  }

  async #close(): Promise<void> {
    this.#ends.flush();
    await this.#journal.close();
    if (this.#closed.size > 0) this.start();
    this.#isClosing = true;
    if (this.#worker === undefined) return;
    const closed = new Promise<void>((resolve) => {
      this.#onClosed = resolve;
    });
    this.#worker.ref();
    this.#worker.postMessage({ kind: 'close' } satisfies LedgerCommand);
    // One that is late ends by itself once it can.
    const late = setTimeout(() => this.#onClosed(), closeMs);
    await closed;
    clearTimeout(late);
    this.#worker.unref();
  }

  #post(command: LedgerCommand): void {
    this.start();
    this.#worker?.postMessage(command);
  }

  #receive(answer: LedgerAnswer): void {
    switch (answer.kind) {
      case 'moved':
        this.#closed.delete(answer.path);
        return;
      case 'failing':
        return this.#wait(answer.cause);
      case 'working':
        if (!this.#isMoving) this.#options.onEvent({ kind: 'moving' });
        this.#isMoving = true;
        return this.#causes.clear();
      case 'summed':
        return this.#sumsOf(answer.id)?.resolve(answer.sums);
      case 'sum failed':
        return this.#sumsOf(answer.id)?.reject(new LedgerFailure(answer.cause, answer));
      case 'notice':
        return this.#options.onEvent(answer);
    }
  }

  /** The database can't be written; the journal can. */
  #wait(cause: string): void {
    if (this.#causes.add(cause)) this.#options.onEvent({ kind: 'waiting', cause });
    this.#isMoving = false;
  }

  #sumsOf(id: number): Summing | undefined {
    const summing = this.#summing.get(id);
    this.#summing.delete(id);
    return summing;
  }

  /** The thread died; the next one moves what is left. */
  #lose(worker: Worker): void {
    if (worker !== this.#worker) return;
    for (const id of [...this.#summing.keys()])
      this.#sumsOf(id)?.reject(new LedgerFailure('the thread of the ledger ended'));
    if (this.#isClosing) return this.#onClosed();
    this.#wait('the thread of the ledger ended');
    setTimeout(() => {
      this.#worker = undefined;
      this.start();
    }, restartMs).unref();
  }
}

async function inTime(writing: Promise<void>): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error('the disk takes too long'));
    // If this process itself was held up, the disk may have answered: timers run before that is read.
    late = setTimeout(() => setImmediate(fail), longestWaitMs);
  });
  try {
    await Promise.race([writing, tooLong]);
  } finally {
    clearTimeout(late);
  }
}
