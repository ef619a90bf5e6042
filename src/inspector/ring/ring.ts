import type { ExchangeTrace, TracedExchange } from '../../record/observer.ts';
import type { ExchangeRecord } from '../../record/record.ts';
import { type EntryKeeper, RingEntry } from './entry.ts';

export interface RingLimits {
  readonly exchanges: number;
  readonly bytes: number;
}

const defaultRingLimits: RingLimits = { exchanges: 500, bytes: 64 * 1024 * 1024 };

/** An entry with its numbers, the record and its names; headers come on top. */
const entryBytes = 2_048;

/** The last exchanges, bounded in number and bytes: the oldest bodies go first, then the oldest exchanges. */
export class Ring implements EntryKeeper {
  readonly limits: RingLimits;
  /** Grows with every change, so that whoever has seen one version can ask for what is newer. */
  version = 0;
  /** The newest version among those that are gone. */
  goneVersion = 0;
  bytes = 0;
  keepsBodies = false;
  /** Called for a change while somebody follows; must not throw. */
  onChange: ((entry: RingEntry) => void) | undefined;
  #newest = 0;
  #oldest = 1;
  readonly #slots: (RingEntry | undefined)[];

  constructor(limits: RingLimits = defaultRingLimits) {
    this.limits = limits;
    this.#slots = new Array<RingEntry | undefined>(limits.exchanges);
  }

  get size(): number {
    return this.#newest - this.#oldest + 1;
  }

  get isWatched(): boolean {
    return this.onChange !== undefined;
  }

  trace(exchange: TracedExchange): ExchangeTrace {
    return new RingEntry(exchange, this);
  }

  /** Newest first. */
  *entries(): Generator<RingEntry> {
    for (let seq = this.#newest; seq >= this.#oldest; seq -= 1) {
      const entry = this.#slots[seq % this.limits.exchanges];
      if (entry !== undefined) yield entry;
    }
  }

  find(id: string): RingEntry | undefined {
    for (const entry of this.entries()) if (entry.id === id) return entry;
    return undefined;
  }

  insert(entry: RingEntry): void {
    if (entry.record !== undefined && isProbe(entry.record)) return;
    if (this.size === this.limits.exchanges) this.#dropOldest();
    this.#newest += 1;
    entry.seq = this.#newest;
    this.#slots[entry.seq % this.limits.exchanges] = entry;
    this.grew(entry, entryBytes + lengthOf(entry.rawHeaders));
    this.changed(entry);
  }

  changed(entry: RingEntry): void {
    this.version += 1;
    entry.version = this.version;
    this.onChange?.(entry);
  }

  grew(entry: RingEntry, bytes: number): void {
    // One that is open longer than the ring reaches is not held any more.
    if (entry.seq < this.#oldest) return void entry.dropBodies();
    entry.bytes += bytes;
    this.bytes += bytes;
    if (this.bytes > this.limits.bytes) this.#shrink();
  }

  forgetBodies(): void {
    for (const entry of this.entries()) if (entry.hasBodies) this.#dropBodies(entry);
  }

  #shrink(): void {
    for (let seq = this.#oldest; seq <= this.#newest && this.bytes > this.limits.bytes; seq += 1) {
      const entry = this.#slots[seq % this.limits.exchanges];
      if (entry?.hasBodies === true) this.#dropBodies(entry);
    }
    while (this.bytes > this.limits.bytes && this.size > 1) this.#dropOldest();
  }

  #dropBodies(entry: RingEntry): void {
    this.bytes -= entry.dropBodies();
    this.changed(entry);
  }

  #dropOldest(): void {
    const slot = this.#oldest % this.limits.exchanges;
    const entry = this.#slots[slot];
    this.#slots[slot] = undefined;
    this.#oldest += 1;
    if (entry === undefined) return;
    this.goneVersion = Math.max(this.goneVersion, entry.version);
    this.bytes -= entry.bytes;
  }
}

/** What watches the gateway itself asks every few seconds, and would push everything else out. */
export function isProbe({ method, status, endpoint }: ExchangeRecord): boolean {
  return method !== 'POST' && status < 400 && endpoint === undefined;
}

function lengthOf(texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}
