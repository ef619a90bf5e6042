import type { ExchangeTrace, TracedExchange } from '../../record/observer.ts';
import type { ExchangeRecord } from '../../record/record.ts';
import { SwapRemoveList } from '../../swap-remove-list.ts';
import { type EntryKeeper, RingEntry, recalledEntry } from './entry.ts';

/** How many unremarkable exchanges are kept per second while nobody is looking. */
const keptPerSecond = 5;

interface RingLimits {
  readonly exchanges: number;
  readonly bytes: number;
}

const defaultRingLimits: RingLimits = { exchanges: 500, bytes: 64 * 1024 * 1024 };

/** Approximate bytes of an entry with its record, without headers. */
const entryBytes = 2_048;

/**
 * The last exchanges, bounded in number and bytes: the oldest bodies go first, then the oldest exchanges. Of the
 * unremarkable ones while nobody looks, a burst as large as the ring is kept, then five a second. Above that rate the
 * ring would reach back for seconds only, and keeping is what costs: whatever outlives Node's young generation is
 * copied twice, and makes that generation larger.
 */
export class Ring implements EntryKeeper {
  readonly limits: RingLimits;
  /** Grows with every change, so that a viewer can ask for what is newer than the version it has seen. */
  version = 0;
  /** The newest version among the entries that are gone. */
  goneVersion = 0;
  bytes = 0;
  keepsBodies = false;
  /** Called for each change while somebody is watching; must not throw. */
  onChange: ((entry: RingEntry) => void) | undefined;
  /** Numbers of exchanges and slots only grow; those of recalled ones are below those of the first exchange here. */
  #lastSeq: number;
  #firstSeq: number;
  /** An entry's index in the array is its slot modulo the ring's size. */
  #newest: number;
  #oldest: number;
  readonly #slots: (RingEntry | undefined)[];
  /** Open exchanges that have no slot yet. */
  readonly #open = new SwapRemoveList<RingEntry>();
  readonly #nowMs: () => number;
  /** How many unremarkable ones may be kept, and since when that is so. */
  #allowance = 0;
  #allowedMs = 0;
  /** Exchanges that were not kept since the newest entry. */
  #leftOut = 0;
  /** The newest entry, if it only stays until the next one comes. */
  #provisional: RingEntry | undefined;

  constructor(limits: RingLimits = defaultRingLimits, nowMs: () => number = Date.now) {
    this.limits = limits;
    this.#lastSeq = limits.exchanges;
    this.#firstSeq = limits.exchanges + 1;
    this.#newest = limits.exchanges;
    this.#oldest = limits.exchanges + 1;
    this.#slots = new Array<RingEntry | undefined>(limits.exchanges);
    this.#nowMs = nowMs;
    this.look();
  }

  get size(): number {
    return this.#newest - this.#oldest + 1;
  }

  /** How many exchanges between those that are here were not kept, because nobody looked. */
  get leftOut(): number {
    let count = 0;
    for (const entry of this.#kept()) count += entry.slot === this.#oldest ? 0 : entry.leftOut;
    return count;
  }

  get isWatched(): boolean {
    return this.onChange !== undefined;
  }

  get newestSlot(): number {
    return this.#newest;
  }

  holds(entry: RingEntry): boolean {
    return entry.slot >= this.#oldest;
  }

  trace(exchange: TracedExchange): ExchangeTrace {
    this.#lastSeq += 1;
    return new RingEntry(exchange, this, this.#lastSeq);
  }

  /** Adds an exchange of before this start, older than all that are here, if there is room for it. */
  recall(record: ExchangeRecord): void {
    if (this.size === this.limits.exchanges || this.bytes + entryBytes > this.limits.bytes) return;
    if (this.#firstSeq === 1) return;
    this.#firstSeq -= 1;
    this.#oldest -= 1;
    const entry = recalledEntry(record, this, this.#firstSeq);
    entry.slot = this.#oldest;
    this.#slots[entry.slot % this.limits.exchanges] = entry;
    this.grew(entry, entryBytes);
    this.changed(entry);
  }

  /** Newest first, open ones included. What somebody has looked at stays. */
  entries(): readonly RingEntry[] {
    this.look();
    return [...this.#kept()].sort((one, other) => other.seq - one.seq);
  }

  find(id: string): RingEntry | undefined {
    return this.entries().find((entry) => entry.id === id);
  }

  /** Somebody is looking: everything that is here is shown, and everything that comes is kept for a while. */
  look(): void {
    this.#provisional = undefined;
    this.#allowance = this.limits.exchanges;
    this.#allowedMs = this.#nowMs();
    for (const entry of [...this.#open.items]) {
      this.#open.remove(entry);
      this.#insert(entry);
    }
  }

  opened(entry: RingEntry): void {
    if (this.isWatched || this.keepsBodies) this.#insert(entry);
    else this.#open.add(entry);
  }

  finished(entry: RingEntry, record: ExchangeRecord): void {
    if (entry.slot > 0) return this.changed(entry);
    if (entry.wasOpened) this.#open.remove(entry);
    if (isProbe(record)) return;
    this.#dropProvisional();
    this.#insert(entry);
    if (!this.isWatched && isUnremarkable(record) && !this.#mayKeep()) this.#provisional = entry;
  }

  changed(entry: RingEntry): void {
    if (entry.slot === 0) return;
    this.version += 1;
    entry.version = this.version;
    this.onChange?.(entry);
  }

  grew(entry: RingEntry, bytes: number): void {
    // An exchange that is open for longer than the ring reaches back is dropped.
    if (!this.holds(entry)) return void entry.dropBodies();
    entry.bytes += bytes;
    this.bytes += bytes;
    if (this.bytes > this.limits.bytes) this.#shrink();
  }

  forgetBodies(): void {
    for (const entry of this.#kept()) if (entry.hasBodies) this.#dropBodies(entry);
  }

  *#kept(): Generator<RingEntry> {
    for (let slot = this.#oldest; slot <= this.#newest; slot += 1) {
      const entry = this.#slots[slot % this.limits.exchanges];
      if (entry !== undefined) yield entry;
    }
  }

  #insert(entry: RingEntry): void {
    if (this.size === this.limits.exchanges) this.#dropOldest();
    this.#newest += 1;
    entry.slot = this.#newest;
    entry.leftOut = this.#leftOut;
    this.#leftOut = 0;
    this.#slots[entry.slot % this.limits.exchanges] = entry;
    this.grew(entry, entryBytes + lengthOf(entry.rawHeaders));
    this.changed(entry);
  }

  /** Whether one more may be kept while nobody looks. */
  #mayKeep(): boolean {
    if (this.#allowance < 1) {
      const nowMs = this.#nowMs();
      // A clock that was set back must not stop it.
      this.#allowance += (Math.max(0, nowMs - this.#allowedMs) / 1_000) * keptPerSecond;
      this.#allowance = Math.min(this.limits.exchanges, this.#allowance);
      this.#allowedMs = nowMs;
    }
    if (this.#allowance < 1) return false;
    this.#allowance -= 1;
    return true;
  }

  /** Makes room for the next entry, unless the provisional one came long enough after those before it. */
  #dropProvisional(): void {
    const entry = this.#provisional;
    this.#provisional = undefined;
    if (entry === undefined || entry.slot !== this.#newest || this.#mayKeep()) return;
    this.#slots[entry.slot % this.limits.exchanges] = undefined;
    this.#newest -= 1;
    this.#leftOut = entry.leftOut + 1;
    this.#noteGone(entry);
  }

  #shrink(): void {
    for (const entry of this.#kept()) {
      if (this.bytes <= this.limits.bytes) return;
      if (entry.hasBodies) this.#dropBodies(entry);
    }
    while (this.bytes > this.limits.bytes && this.size > 1) this.#dropOldest();
  }

  #dropBodies(entry: RingEntry): void {
    this.bytes -= entry.dropBodies();
    this.changed(entry);
  }

  #dropOldest(): void {
    const place = this.#oldest % this.limits.exchanges;
    const entry = this.#slots[place];
    this.#slots[place] = undefined;
    this.#oldest += 1;
    if (entry !== undefined) this.#noteGone(entry);
  }

  #noteGone(entry: RingEntry): void {
    this.goneVersion = Math.max(this.goneVersion, entry.version);
    this.bytes -= entry.bytes;
    entry.dropBodies();
  }
}

/** Monitoring probes come every few seconds, and would push everything else out. */
export function isProbe({ method, status, endpoint }: ExchangeRecord): boolean {
  return method !== 'POST' && status < 400 && endpoint === undefined;
}

function isUnremarkable({ outcome, status, rules }: ExchangeRecord): boolean {
  return outcome === 'answered' && status < 400 && rules === undefined;
}

function lengthOf(texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}
