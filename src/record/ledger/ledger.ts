import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { OutageCauses } from '../../lib/outage-causes.ts';
import type { LedgerGauges } from '../gauges.ts';
import { type ClosedSegment, Journal, type JournalEvent } from './journal/journal.ts';
import { beginLine } from './journal/journal-line.ts';
import type { JournalSegment } from './journal/segments.ts';
import type { Sums } from './ledger-columns.ts';
import type { Intent, LedgerRow } from './ledger-row.ts';
import type { LedgerPlace, Retention } from './ledger-store.ts';
import { LedgerFailure, readRaises } from './read-ledger.ts';
import { ThreadLock } from './thread-lock.ts';

/** The journal or the database can't be written any more (once for each cause), or can again; or something else to know. */
export type LedgerEvent =
  | JournalEvent
  | { readonly kind: 'waiting'; readonly cause: string }
  | { readonly kind: 'moving' }
  /** At the end: they are not in the database yet. */
  | { readonly kind: 'left'; readonly lines: number }
  | { readonly kind: 'notice'; readonly message: string };

export interface LedgerOptions {
  readonly place: LedgerPlace;
  readonly retention: Retention;
  /** Whether a beginning waits for the disk. */
  readonly isSynced?: boolean;
  readonly onEvent: (event: LedgerEvent) => void;
}

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const entry = import.meta.url.endsWith('.ts') ? '../../../dist/ledger-thread.js' : './ledger-thread.js';
/** Nobody waits longer for the disk; a beginning that takes longer counts as a failure. */
const maxWaitMs = 2_000;
const closeMs = 5_000;
const restartMs = 1_000;

/**
 * Durable usage: a line when an exchange begins, if that is needed, and one when it is over. This process appends them to the
 * journal, and a thread moves closed segments into the database.
 */
export class Ledger {
  /** Whether every exchange has a line at its beginning, and waits until that is on the disk. */
  readonly isSynced: boolean;
  readonly #options: LedgerOptions;
  readonly #journal: Journal;
  readonly #owner = randomUUID();
  /** The last that were entered, written or not. */
  #ends: Ends | undefined;
  #thread: Worker | undefined;
  /** Closed segments that are not in the database yet. */
  readonly #closed = new Map<string, Omit<ClosedSegment, 'sums'>>();
  #isMoving = true;
  readonly #causes = new OutageCauses();
  #isClosing = false;
  #closing: Promise<void> | undefined;
  #onClosed: () => void = () => undefined;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.isSynced = options.isSynced === true;
    this.#journal = new Journal({
      directory: options.place.journal,
      owner: this.#owner,
      isSynced: this.isSynced,
      addsUp: !options.retention.keepsRows,
      onEvent: options.onEvent,
      onClosed: ({ sums, ...segment }) => {
        this.start(); // before this one is added: a new thread gets all that there are
        this.#closed.set(segment.path, segment);
        this.#move(segment, sums);
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
    await this.#journal.start();
  }

  /** Undefined if it is written when this returns; else resolves once it is. Rejects with LedgerFailure. */
  begin(intent: Intent): Promise<void> | undefined {
    const writing = this.#journal.begin(intent.request_id, beginLine(intent));
    return writing && this.#beginInTime(intent.request_id, writing);
  }

  /** The exchange is over: it is entered, and written with what else ends in this tick. Its row must not change afterwards. */
  finish(row: LedgerRow): LedgerEntry {
    if (this.#ends?.isWritten !== false) this.#ends = new Ends(this.#journal);
    this.#ends.rows.push(row);
    return this.#ends;
  }

  /** Resolves when everything has been written and moved, as far as that is possible. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** What the budgets of a session were raised by, by a command. Rejects with LedgerFailure. */
  readRaises(session: {
    readonly key: string;
    readonly session: string;
  }): Promise<Readonly<Record<string, number>>> {
    return readRaises(this.#options.place, session);
  }

  start(): void {
    if (this.#thread !== undefined || this.#isClosing) return;
    const { place, retention } = this.#options;
    const lock = new ThreadLock();
    const workerData: LedgerThreadData = { place, retention, owner: this.#owner, lock: lock.memory };
    const thread = new Worker(new URL(entry, import.meta.url), { workerData, env: {}, name: 'ledger' });
    thread.on('message', (message: LedgerMessage) => this.#receive(message));
    thread.on('error', (error) => this.wait(error.message));
    thread.on('exit', lock.acquireAtExit(closeMs)).on('exit', () => this.#lose(thread));
    thread.unref(); // it does not keep a process that has nothing else to do
    this.#thread = thread;
    for (const segment of this.#closed.values()) this.#move(segment);
  }

  #move({ path, owner, number }: JournalSegment, sums?: Sums): void {
    this.#thread?.postMessage({
      kind: 'move',
      segment: { path, owner, number },
      sums,
    } satisfies LedgerCommand);
  }

  /** What is late is taken back; it may still be written, and the line that takes it back after it. */
  async #beginInTime(requestId: string, writing: Promise<void>): Promise<void> {
    try {
      await inTime(writing);
    } catch (cause) {
      this.#journal.cancel(requestId);
      throw new LedgerFailure(cause);
    }
  }

  async #close(): Promise<void> {
    void this.#ends?.write(); // of what ended in this tick
    await this.#journal.close();
    if (this.#closed.size > 0) this.start();
    this.#isClosing = true;
    if (this.#thread !== undefined) await this.#closeThread(this.#thread);
    const left = [...this.#closed.values(), ...this.#journal.written];
    const lines = left.reduce((sum, segment) => sum + segment.lines, 0);
    if (lines > 0) this.#options.onEvent({ kind: 'left', lines });
  }

  async #closeThread(thread: Worker): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#onClosed = resolve;
    });
    thread.ref();
    thread.postMessage({ kind: 'close' } satisfies LedgerCommand);
    // One that is late ends by itself once it can.
    const late = setTimeout(() => this.#onClosed(), closeMs);
    await closed;
    clearTimeout(late);
    thread.unref();
  }

  #receive(message: LedgerMessage): void {
    switch (message.kind) {
      case 'moved':
        this.#closed.delete(message.path);
        return;
      case 'failing':
        return this.wait(message.cause);
      case 'working':
        if (!this.#isMoving) this.#options.onEvent({ kind: 'moving' });
        this.#isMoving = true;
        return this.#causes.clear();
      case 'notice':
        return this.#options.onEvent(message);
    }
  }

  /** The database can't be written; the journal can. Its thread says when it can again. */
  wait(cause: string): void {
    if (this.#causes.add(cause)) this.#options.onEvent({ kind: 'waiting', cause });
    this.#isMoving = false;
  }

  /** The thread died; the next one moves what is left. */
  #lose(thread: Worker): void {
    if (thread !== this.#thread) return;
    if (this.#isClosing) return this.#onClosed();
    this.wait('the thread of the ledger ended');
    setTimeout(() => {
      this.#thread = undefined;
      this.start();
    }, restartMs).unref();
  }
}

/** The end of an exchange that is to be written. */
export interface LedgerEntry {
  /**
   * Writes it, with those that were entered since the last write. Undefined if it is written when this returns: from then
   * on the exchange can't be lost. Else resolves once it is, or when that takes too long; it never rejects.
   */
  write(): Promise<void> | undefined;
}

/** Ends of exchanges that are written together, by the first whose answer leaves; all of them wait for the same write. */
class Ends implements LedgerEntry {
  readonly rows: LedgerRow[] = [];
  isWritten = false;
  readonly #journal: Journal;
  #writing: Promise<void> | undefined;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  write(): Promise<void> | undefined {
    if (this.isWritten) return this.#writing;
    this.isWritten = true;
    const writing = this.#journal.end(this.rows);
    this.#writing = writing && inTime(writing).catch(() => undefined);
    return this.#writing;
  }
}

async function inTime(writing: Promise<void>): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error('the disk takes too long'));
    // If this process itself was held up, the disk may have answered: timers run before that is read.
    late = setTimeout(() => setImmediate(fail), maxWaitMs);
  });
  try {
    await Promise.race([writing, tooLong]);
  } finally {
    clearTimeout(late);
  }
}

/** What the ledger's thread is started with. */
export interface LedgerThreadData {
  readonly place: LedgerPlace;
  readonly retention: Retention;
  /** Whose segments this process writes. */
  readonly owner: string;
  /** The memory of its ThreadLock. */
  readonly lock: SharedArrayBuffer;
}

export type LedgerCommand =
  /** A segment of this process is closed; it is read unless it is known what it adds. Answered by `moved`, as soon as that is possible. */
  | { readonly kind: 'move'; readonly segment: JournalSegment; readonly sums: Sums | undefined }
  /** Answered by the end of the thread. */
  | { readonly kind: 'close' };

export type LedgerMessage =
  | { readonly kind: 'moved'; readonly path: string }
  /** Segments wait, and are tried again. */
  | { readonly kind: 'failing'; readonly cause: string }
  | { readonly kind: 'working' }
  /** Something that a person has to know. */
  | { readonly kind: 'notice'; readonly message: string };
