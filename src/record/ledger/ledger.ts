import { Worker } from 'node:worker_threads';
import { OutageCauses } from '../../outage-causes.ts';
import type { LedgerGauges } from '../observer.ts';
import type { LedgerAnswer, LedgerCommand, LedgerThreadData } from './ledger-messages.ts';
import type { Intent, KnownSum, LedgerRow, WantedSum } from './ledger-row.ts';
import type { LedgerPlace, Retention } from './ledger-store.ts';
import { type PackedChange, packCancel, packIntent, packRow } from './packed-change.ts';
import { ThreadLock } from './thread-lock.ts';

/** The ledger can't be written any more (once for each cause), or can again, or changes are lost for good. */
export type LedgerEvent =
  | { readonly kind: 'failing'; readonly cause: string }
  | { readonly kind: 'working' }
  | { readonly kind: 'lost'; readonly changes: number };

export type LedgerOptions = LedgerPlace & {
  readonly retention: Retention;
  readonly onEvent: (event: LedgerEvent) => void;
  /** The sums that are needed before the first request. */
  readonly wanted: readonly WantedSum[];
};

export interface LedgerProblem {
  readonly cause: string;
  /** Whether the database just does not answer, so that the settings may be right. */
  readonly isAway: boolean;
}

/** Durable usage: an intent for each exchange, written before its provider is called, and its final row. */
export interface Ledger {
  readonly gauges: LedgerGauges;
  /** Resolves when the intent is durable. Throws LedgerFailure. */
  begin(intent: Intent): Promise<void>;
  /** Takes an intent back, whether it was committed or not. */
  cancel(requestId: string): void;
  /** Nothing waits for the final row: with a durable intent the exchange can't be lost. */
  finish(row: LedgerRow): void;
  /** What has been used so far, including the worst case of everything that is open. Throws LedgerFailure. */
  sums(wanted: readonly WantedSum[]): Promise<readonly KnownSum[]>;
  /** Resolves when everything has been committed, as far as that is possible. */
  close(): Promise<void>;
}

/** Why an intent could not be committed. */
class LedgerFailure extends Error {}

interface Waiting {
  readonly at: number;
  readonly sinceMs: number;
  readonly resolve: () => void;
  readonly reject: (failure: LedgerFailure) => void;
}

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const entry = import.meta.url.endsWith('.ts') ? '../../../dist/ledger-worker.js' : './ledger-worker.js';
/** Final rows wait this long to be committed together with others. */
const gatherMs = 20;
/** A commit that takes longer counts as a failure. */
const longestWaitMs = 2_000;
/** The first intent waits for the thread to start as well, which takes seconds on a busy machine. */
const longestOpenMs = 10_000;
const watchMs = 500;
const closeMs = 5_000;
const restartMs = 1_000;

/** The result of opening it for the first time. */
export interface FirstTry {
  /** Undefined if it can't be opened. */
  readonly sums: readonly KnownSum[] | undefined;
  readonly problem: LedgerProblem | undefined;
}

interface Summing {
  readonly resolve: (sums: readonly KnownSum[]) => void;
  readonly reject: (failure: LedgerFailure) => void;
}

/** The main thread's side of the ledger; a worker thread does the writing, from `start` or the first change on. */
export class LedgerThread implements Ledger {
  readonly tried: Promise<FirstTry>;
  readonly #options: LedgerOptions;
  readonly #watch: NodeJS.Timeout;
  #worker: Worker | undefined;
  #changes: PackedChange[] = [];
  #waiting: Waiting[] = [];
  readonly #summing = new Map<number, Summing>();
  #sumCount = 0;
  #count = 0;
  #committed = 0;
  #flushing: NodeJS.Immediate | NodeJS.Timeout | undefined;
  #isSoon = false;
  #isAwaitingAnswer = false;
  #isOpen = false;
  #isFailing = false;
  readonly #causes = new OutageCauses();
  #isClosing = false;
  #closed: Promise<void> | undefined;
  #onTried: (outcome: FirstTry) => void = () => undefined;
  #onClosed: () => void = () => undefined;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.tried = new Promise((resolve) => {
      this.#onTried = resolve;
    });
    this.#watch = setInterval(() => this.#failLate(), watchMs).unref();
  }

  get gauges(): LedgerGauges {
    const oldest = this.#waiting[0];
    return {
      isWritable: !this.#isFailing,
      pending: this.#count - this.#committed,
      lagMs: oldest === undefined ? 0 : performance.now() - oldest.sinceMs,
    };
  }

  begin(intent: Intent): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#isOpen && this.#isFailing) return reject(new LedgerFailure('the ledger is not open'));
      this.#add(packIntent(intent));
      this.#waiting.push({ at: this.#count, sinceMs: performance.now(), resolve, reject });
      if (this.#isSoon) return;
      this.#isSoon = true;
      clearTimeout(this.#flushing as NodeJS.Timeout | undefined);
      // One message for everything in one tick, or for everything that comes while the thread is committing.
      this.#flushing = this.#isAwaitingAnswer ? undefined : setImmediate(() => this.#flush());
    });
  }

  cancel(requestId: string): void {
    this.#addLater(packCancel(requestId));
  }

  finish(row: LedgerRow): void {
    this.#addLater(packRow(row));
  }

  sums(wanted: readonly WantedSum[]): Promise<readonly KnownSum[]> {
    return new Promise((resolve, reject) => {
      this.#flush();
      this.#sumCount += 1;
      this.#summing.set(this.#sumCount, { resolve, reject });
      this.#post({ kind: 'sum', id: this.#sumCount, wanted });
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#flush();
    this.#isClosing = true;
    clearInterval(this.#watch);
    if (this.#worker === undefined) return;
    const closed = new Promise<void>((resolve) => {
      this.#onClosed = resolve;
    });
    this.#worker.ref();
    this.#post({ kind: 'close' });
    // One that is late ends by itself once it can.
    const late = setTimeout(() => this.#onClosed(), closeMs);
    await closed;
    clearTimeout(late);
    this.#worker.unref();
  }

  #add(change: PackedChange): void {
    this.#changes.push(change);
    this.#count += 1;
  }

  #addLater(change: PackedChange): void {
    this.#add(change);
    if (this.#isSoon) return;
    this.#flushing ??= setTimeout(() => this.#flush(), gatherMs);
  }

  #flush(): void {
    this.#flushing = undefined;
    this.#isSoon = false;
    if (this.#changes.length === 0) return;
    this.#isAwaitingAnswer = true;
    this.#post({ kind: 'changes', json: JSON.stringify(this.#changes), upTo: this.#count });
    this.#changes = [];
  }

  #post(command: LedgerCommand): void {
    this.start();
    this.#worker?.postMessage(command);
  }

  start(): void {
    if (this.#worker !== undefined || this.#isClosing) return;
    const { onEvent: _, wanted, retention, ...place } = this.#options;
    const lock = new ThreadLock();
    const worker = new Worker(new URL(entry, import.meta.url), {
      workerData: { place, retention, lock: lock.memory } satisfies LedgerThreadData,
      env: {},
      name: 'ledger',
    });
    worker.on('message', (answer: LedgerAnswer) => this.#receive(answer));
    worker.on('error', (error) => this.#fail({ cause: error.message, isAway: false }, this.#count));
    worker.on('exit', lock.acquireAtExit(closeMs)).on('exit', () => this.#lose(worker));
    worker.postMessage({ kind: 'open', wanted } satisfies LedgerCommand);
    worker.unref(); // it does not keep a process that has nothing else to do
    this.#worker = worker;
  }

  #receive(answer: LedgerAnswer): void {
    switch (answer.kind) {
      case 'opened':
        this.#onTried({ sums: answer.sums, problem: undefined });
        this.#isOpen = true;
        return this.#work();
      case 'committed':
        this.#committed = answer.upTo;
        this.#answered();
        for (const { resolve } of this.#taken(answer.upTo)) resolve();
        return this.#isOpen ? this.#work() : undefined;
      case 'failed':
        this.#answered();
        return this.#fail(answer, answer.upTo);
      case 'summed':
        return this.#sumsOf(answer.id)?.resolve(answer.sums);
      case 'sum failed':
        return this.#sumsOf(answer.id)?.reject(new LedgerFailure(answer.cause));
      case 'lost':
        return this.#options.onEvent(answer);
    }
  }

  #answered(): void {
    this.#isAwaitingAnswer = false;
    if (this.#isSoon) this.#flush();
  }

  #work(): void {
    if (this.#isFailing) this.#options.onEvent({ kind: 'working' });
    this.#isFailing = false;
    this.#causes.clear();
  }

  #sumsOf(id: number): Summing | undefined {
    const summing = this.#summing.get(id);
    this.#summing.delete(id);
    return summing;
  }

  #fail(problem: LedgerProblem, upTo: number): void {
    const { cause } = problem;
    this.#onTried({ sums: undefined, problem });
    if (this.#causes.add(cause)) this.#options.onEvent({ kind: 'failing', cause });
    this.#isFailing = true;
    for (const { reject } of this.#taken(upTo)) reject(new LedgerFailure(cause));
  }

  #failLate(): void {
    if (!this.#isLate()) return;
    // If this process itself was held up, the answer may have arrived: timers run before messages.
    setImmediate(() => {
      const oldest = this.#waiting[0];
      if (oldest === undefined || !this.#isLate()) return;
      this.#fail({ cause: 'the disk takes too long', isAway: false }, oldest.at);
    });
  }

  #isLate(): boolean {
    const oldest = this.#waiting[0];
    const mostMs = this.#isOpen ? longestWaitMs : longestOpenMs;
    return oldest !== undefined && performance.now() - oldest.sinceMs >= mostMs;
  }

  /** Removes and returns those that wait for changes up to a number. */
  #taken(upTo: number): readonly Waiting[] {
    const count = this.#waiting.findIndex(({ at }) => at > upTo);
    return this.#waiting.splice(0, count < 0 ? this.#waiting.length : count);
  }

  /** The thread died: what it had not committed is lost, and intents of exchanges in flight become `unknown`. */
  #lose(worker: Worker): void {
    if (worker !== this.#worker) return;
    for (const id of [...this.#summing.keys()])
      this.#sumsOf(id)?.reject(new LedgerFailure('its thread ended'));
    if (this.#isClosing) return this.#onClosed();
    this.#isAwaitingAnswer = false;
    this.#isSoon = false;
    this.#fail({ cause: 'the thread of the ledger ended', isAway: false }, this.#count);
    setTimeout(() => {
      this.#worker = undefined;
      if (!this.#isClosing) this.start();
    }, restartMs).unref();
  }
}
