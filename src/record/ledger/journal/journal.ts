import { writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sums } from '../ledger-columns.ts';
import type { LedgerRow } from '../ledger-row.ts';
import { cancelLine, endLine } from './journal-line.ts';
import { type JournalSegment, makeSegment, type OpenSegment } from './segments.ts';

/** Lines can't be written any more (once for each outage), or can again, or were lost for good. */
export type JournalEvent =
  | { readonly kind: 'failing'; readonly cause: string }
  | { readonly kind: 'working' }
  | { readonly kind: 'lost'; readonly lines: number };

/** A segment that gets no more lines; all of it is on the disk. */
export interface ClosedSegment extends JournalSegment {
  readonly lines: number;
  readonly sinceMs: number;
  /** What it adds to the sums; undefined if that isn't known, or more of it may be on the disk than was acknowledged. */
  readonly sums: Sums | undefined;
}

interface JournalOptions {
  readonly directory: string;
  readonly owner: string;
  /** Whether a beginning counts as written only once it is on the disk. */
  readonly isSynced: boolean;
  /** Whether what a segment adds to the sums is to be known when it is closed. */
  readonly addsUp: boolean;
  readonly onEvent: (event: JournalEvent) => void;
  readonly onClosed: (segment: ClosedSegment) => void;
}

/** Lines that are written together. */
interface Lines {
  readonly text: string;
  readonly lines: number;
  /** What of it is to be added up. */
  readonly rows?: readonly LedgerRow[];
}

/** Those that are not written yet. */
interface Waiting extends Lines {
  /** Set for a beginning, which fails with the write instead of waiting for the disk. */
  readonly fail?: (cause: Error) => void;
  /** It is written, or will be: there is no need to wait for it any more. */
  readonly done?: () => void;
}

const everyMs = 1_000;
const retryMs = 250;
/** After a write that took longer, the next one may hold up its caller. */
const slowMs = 50;
/** A sync that takes longer shows that the disk has stalled; until then it doesn't hold up writes. */
const stalledMs = 500;
/** What is open is written again in each new segment, so many open exchanges make for longer segments, up to this age. */
const oldMs = 10_000;
const closeMs = 5_000;
/** Maximum characters that wait in memory while the disk can't be written. */
const maxWaitingLength = 64 * 1024 * 1024;

/**
 * The journal of one process: `append → sync once a second → close the segment`. A line is written by the caller itself,
 * which takes microseconds, because it only goes to the system's memory. Once a write was slow or failed, or a sync takes
 * long, lines wait in memory instead, and are written in Node's thread pool until that is fast again.
 */
export class Journal {
  readonly #options: JournalOptions;
  /** The beginnings of exchanges under way, by request id. */
  readonly #open = new Map<string, string>();
  #segment: OpenSegment | undefined;
  #number = 0;
  readonly #waiting = new WaitingLines();
  /** Full segments, which are closed once the next one has what is open. */
  #full: OpenSegment[] = [];
  #working: Promise<void> | undefined;
  #isWriting = false;
  #isSlow = false;
  #isDue = false;
  #failure: Error | undefined;
  /** When the pool's current work for the disk began. */
  #diskSinceMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #synced: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  get isFailing(): boolean {
    return this.#failure !== undefined;
  }

  /** How many lines are only in memory. */
  get unwritten(): number {
    return this.#waiting.lines;
  }

  /** The segments that are not closed yet, oldest first. */
  get written(): readonly OpenSegment[] {
    return [...this.#full, ...(this.#segment === undefined ? [] : [this.#segment])];
  }

  /** Makes the folder and the first segment. Throws where that is impossible; it is retried then. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => {
      this.#isDue = true;
      if (this.#failure === undefined) this.#work();
    }, everyMs).unref();
    this.#work();
    await this.#working;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Undefined if it is written when this returns; else resolves once it is. Rejects if the disk can't be written. */
  begin(requestId: string, line: string): Promise<void> | undefined {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#open.set(requestId, line);
    if (this.#write({ text: line, lines: 1 })) return this.#options.isSynced ? this.#sync() : undefined;
    const written = new Promise<void>((done, reject) => {
      const fail = (cause: Error) => {
        this.#open.delete(requestId);
        reject(cause);
      };
      this.#wait({ text: line, lines: 1, fail, done });
    });
    return this.#options.isSynced ? written.then(() => this.#sync()) : written;
  }

  /**
   * Ends of exchanges, in one write. Undefined if they are written when this returns, or if it is unknown when they will be;
   * else resolves once they are.
   */
  end(rows: readonly LedgerRow[]): Promise<void> | undefined {
    let text = '';
    for (const row of rows) {
      this.#open.delete(row.request_id);
      text += endLine(row);
    }
    return this.#end({ text, lines: rows.length, ...(this.#options.addsUp && { rows }) });
  }

  /** Takes a beginning back, unless it never got so far. */
  cancel(requestId: string): void {
    if (this.#open.delete(requestId)) void this.#end({ text: cancelLine(requestId), lines: 1 }); // it never rejects
  }

  #end(lines: Lines): Promise<void> | undefined {
    if (this.#write(lines)) return undefined;
    const written = new Promise<void>((done) => this.#wait({ ...lines, done }));
    return this.#failure === undefined ? written : undefined;
  }

  /** Writes what waits, as far as that is possible in a while, and closes the last segment; `written` has what is left. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const deadline = performance.now() + closeMs;
    // What is under way may be making the next segment, which takes this one's place.
    const isBusy = () => this.#working !== undefined || !this.#waiting.isEmpty || this.#full.length > 0;
    while (isBusy() && performance.now() < deadline) {
      this.#work();
      await Promise.race([this.#working, pause(closeMs)]);
      if (this.#failure !== undefined) await pause(retryMs);
    }
    const last = this.#segment;
    if (last === undefined) return;
    // Segments count in their order: without the one before it on the disk, both are left to the next gateway.
    if (last.lines > 0 && this.#full.length > 0) return;
    this.#segment = undefined;
    if (last.lines > 0) return this.#close(last).catch((cause) => this.#fail(cause));
    await last.handle.close();
    await rm(last.path, { force: true });
  }

  /** Whether all of it could be written without waiting. */
  #write(lines: Lines): boolean {
    const segment = this.#segment;
    if (segment === undefined || !this.#isFast) return false;
    const bytes = Buffer.from(lines.text);
    const startedMs = performance.now();
    try {
      const written = writeSync(segment.handle.fd, bytes);
      if (written < bytes.length) throw new Error('the disk took only a part of a line');
    } catch {
      // Whatever is left of it would be an unreadable line; the pool tries again, and says what is wrong.
      this.#isSlow = true;
      this.#isDue = true;
      return false;
    }
    this.#isSlow = performance.now() - startedMs > slowMs;
    this.#count(segment, lines, bytes.length);
    return true;
  }

  #count(segment: OpenSegment, { lines, rows }: Lines, bytes: number): void {
    segment.bytes += bytes;
    segment.lines += lines;
    if (rows !== undefined) segment.sums.add(rows);
  }

  get #isFast(): boolean {
    if (this.#isWriting || this.#isSlow || !this.#waiting.isEmpty || this.#failure !== undefined)
      return false;
    return this.#diskSinceMs === undefined || performance.now() - this.#diskSinceMs < stalledMs;
  }

  #wait(waiting: Waiting): void {
    this.#waiting.add(waiting);
    if (this.#failure === undefined) this.#work();
  }

  /** One step after the other in the thread pool, until there is nothing left to do. */
  #work(): void {
    this.#working ??= this.#steps().finally(() => {
      this.#working = undefined;
      if (!this.#waiting.isEmpty && this.#failure === undefined) this.#work();
    });
  }

  async #steps(): Promise<void> {
    try {
      while (await this.#step());
      this.#recover();
    } catch (cause) {
      this.#fail(cause instanceof Error ? cause : new Error(String(cause)));
      setTimeout(() => this.#work(), retryMs).unref();
    }
  }

  /** Returns whether there may be more to do. */
  async #step(): Promise<boolean> {
    this.#segment ??= await this.#disk(this.#next());
    if (!this.#waiting.isEmpty) await this.#writeWaiting(this.#segment);
    else if (this.#full[0] !== undefined) await this.#close(this.#full[0]);
    else if (this.#isDue) {
      await this.#maintain(this.#segment);
      this.#isDue = false;
    } else return false;
    return true;
  }

  async #writeWaiting(segment: OpenSegment): Promise<void> {
    const batch = this.#waiting.take();
    this.#isWriting = true;
    const startedMs = performance.now();
    try {
      // What was cut short, here or in `#write`, must not stay, whole lines neither: it is written again, perhaps to the next
      // segment, and would count twice if this one is read.
      await Promise.all([...this.#full, segment].map((each) => each.handle.truncate(each.bytes)));
      await segment.handle.appendFile(batch.map(({ text }) => text).join(''));
    } catch (cause) {
      this.#waiting.putBack(batch);
      throw cause;
    } finally {
      this.#isWriting = false;
    }
    this.#isSlow = performance.now() - startedMs > slowMs;
    for (const lines of batch) this.#count(segment, lines, Buffer.byteLength(lines.text));
    for (const { done } of batch) done?.();
  }

  async #maintain(segment: OpenSegment): Promise<void> {
    if (segment.lines === 0) return;
    const openLength = [...this.#open.values()].reduce((sum, line) => sum + line.length, 0);
    if (segment.bytes < openLength && Date.now() - segment.sinceMs < oldMs) return this.#sync();
    const next = await this.#disk(this.#next());
    this.#segment = next;
    this.#full.push(segment);
    const { size } = this.#open;
    if (size > 0) this.#waiting.putBack([{ text: [...this.#open.values()].join(''), lines: size }]);
  }

  #next(): Promise<OpenSegment> {
    const { directory, owner } = this.#options;
    this.#number += 1;
    return makeSegment(directory, owner, this.#number);
  }

  async #close(segment: OpenSegment): Promise<void> {
    await this.#disk(segment.handle.datasync());
    // The last one may end with what could not be written.
    const isWhole = this.#full.includes(segment) || this.#waiting.isEmpty;
    this.#full = this.#full.filter((full) => full !== segment);
    await segment.handle.close().catch(() => undefined); // its lines are on the disk
    const { path, owner, number, lines, sinceMs } = segment;
    const sums = isWhole && this.#options.addsUp ? segment.sums.sums : undefined;
    this.#options.onClosed({ path, owner, number, lines, sinceMs, sums });
  }

  /**
   * Everything that was written before is on the disk, also what is in a segment that was filled just now; many callers
   * share a sync.
   */
  #sync(): Promise<void> {
    this.#nextSync ??= this.#synced.then(async () => {
      this.#nextSync = undefined;
      await this.#disk(Promise.all(this.written.map(({ handle }) => handle.datasync())));
    });
    this.#synced = this.#nextSync.catch(() => undefined);
    return this.#nextSync;
  }

  async #disk<Value>(work: Promise<Value>): Promise<Value> {
    this.#diskSinceMs = performance.now();
    try {
      return await work;
    } finally {
      this.#diskSinceMs = undefined;
    }
  }

  #fail(cause: Error): void {
    if (this.#failure === undefined) this.#options.onEvent({ kind: 'failing', cause: cause.message });
    this.#failure = cause;
    this.#waiting.fail(cause);
  }

  #recover(): void {
    if (this.#failure !== undefined) this.#options.onEvent({ kind: 'working' });
    this.#failure = undefined;
    const lines = this.#waiting.takeLost();
    if (lines > 0) this.#options.onEvent({ kind: 'lost', lines });
  }
}

/** What waits in memory for a slow or failing disk, in its order and up to a bound. */
class WaitingLines {
  #all: Waiting[] = [];
  #length = 0;
  #lost = 0;

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  get lines(): number {
    return this.#all.reduce((sum, { lines }) => sum + lines, 0);
  }

  add(waiting: Waiting): void {
    if (this.#length + waiting.text.length > maxWaitingLength) {
      this.#lost += waiting.lines;
      return waiting.fail?.(new Error('too much waits to be written'));
    }
    this.#all.push(waiting);
    this.#length += waiting.text.length;
  }

  take(): readonly Waiting[] {
    const taken = this.#all;
    this.#all = [];
    this.#length = 0;
    return taken;
  }

  /** Before all others. */
  putBack(waiting: readonly Waiting[]): void {
    this.#all = [...waiting, ...this.#all];
    this.#length = this.#all.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** Those that can fail do; the others go on waiting. */
  fail(cause: Error): void {
    const failed = this.#all.filter(({ fail }) => fail !== undefined);
    const kept = this.#all.filter(({ fail }) => fail === undefined);
    this.take();
    this.putBack(kept);
    for (const { done } of kept) done?.();
    for (const { fail } of failed) fail?.(cause);
  }

  /** How many lines found no room since the last call. */
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }
}
