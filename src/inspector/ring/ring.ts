import type { ExchangeRecord } from '../../record/record.ts';
import type { KeepBodiesAnswer } from '../contract/actions.ts';
import { type EntryKeeper, type FollowedExchange, RingEntry, recalledEntry } from './entry.ts';

const defaultLimits = { exchanges: 500, bytes: 64 * 1024 * 1024 };

const minuteMs = 60_000;
/** Approximate bytes of an entry with its record, without headers. */
const entryBytes = 2_048;

/**
 * The last exchanges, bounded in number and bytes: the oldest bodies go first, then the oldest exchanges. Those that were
 * refused, failed or matched a rule stay longer, in up to half of the places, and those that are open until they end.
 */
export class Ring implements EntryKeeper {
  readonly limits: Readonly<typeof defaultLimits>;
  /** Grows with every change, so that a viewer can ask for what is newer than the version it has seen. */
  version = 0;
  /** The newest version among the entries that are gone. */
  goneVersion = 0;
  bytes = 0;
  /** Called for each change while somebody is watching; must not throw. */
  onChange: ((entry: RingEntry) => void) | undefined;
  /** Oldest first; each has the next number. */
  readonly #entries: RingEntry[] = [];
  /** The number of the newest one; those of recalled ones are below that of the first exchange here. */
  #newest: number;
  readonly #keepsAlways: () => boolean;
  /** Until when bodies are kept on request, by a monotonic clock, and as it is shown. */
  #kept: { readonly untilMs: number; readonly until: string } | undefined;

  /** `keepsAlways`: whether bodies are kept without a request. */
  constructor(
    limits: Readonly<typeof defaultLimits> = defaultLimits,
    keepsAlways: () => boolean = () => false,
  ) {
    this.limits = limits;
    this.#newest = limits.exchanges;
    this.#keepsAlways = keepsAlways;
  }

  get keepsBodies(): boolean {
    return this.#keepsAlways() || (this.#kept !== undefined && performance.now() < this.#kept.untilMs);
  }

  /** Keeps the bodies of what comes within this time; 0 stops. Those that are already kept stay. */
  keepBodiesFor(minutes: number): void {
    const until = new Date(Date.now() + minutes * minuteMs).toISOString();
    this.#kept = { untilMs: performance.now() + minutes * minuteMs, until };
  }

  /** What a page shows of that. */
  get keeping(): KeepBodiesAnswer {
    if (this.#keepsAlways()) return { keeps_bodies: 'always' };
    return this.#kept !== undefined && this.keepsBodies ? { keeps_bodies: this.#kept.until } : {};
  }

  get size(): number {
    return this.#entries.length;
  }

  get newestSeq(): number {
    return this.#newest;
  }

  holds(entry: RingEntry): boolean {
    return entry.seq > 0 && !entry.isGone;
  }

  /** The subscriber of an exchange whose head has arrived. */
  follow(exchange: FollowedExchange): RingEntry {
    return new RingEntry(exchange, this);
  }

  /** Adds an exchange of before this start, older than all that are here, if there is room for it. */
  recall(record: ExchangeRecord): void {
    const isFull = this.size === this.limits.exchanges || this.bytes + entryBytes > this.limits.bytes;
    if (isFull || this.goneVersion > 0) return;
    const entry = recalledEntry(record, this);
    entry.seq = this.#newest - this.size;
    this.#entries.unshift(entry);
    this.grew(entry, entryBytes);
    this.changed(entry);
  }

  /** Newest first, open ones included. */
  entries(): readonly RingEntry[] {
    return this.#entries.toReversed();
  }

  find(id: string): RingEntry | undefined {
    return this.#entries.findLast((entry) => entry.id === id);
  }

  opened(entry: RingEntry): void {
    if (this.size === this.limits.exchanges) this.#dropOldest();
    this.#newest += 1;
    entry.seq = this.#newest;
    this.#entries.push(entry);
    this.grew(entry, entryBytes + lengthOf(entry.rawHeaders));
    this.changed(entry);
  }

  finished(entry: RingEntry, record: ExchangeRecord): void {
    if (entry.seq > 0) this.changed(entry);
    else if (!isProbe(record)) this.opened(entry);
  }

  changed(entry: RingEntry): void {
    if (entry.seq === 0) return;
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
    for (const entry of this.#entries) if (entry.hasBodies) this.#dropBodies(entry);
  }

  #shrink(): void {
    for (const entry of this.#entries) {
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
    const half = this.limits.exchanges / 2;
    const near = this.#entries.findIndex((each, index) => index <= half && isUnremarkable(each));
    // What is open has its end before it: it is dropped only if nothing else is left.
    const place = near >= 0 ? near : this.#entries.findIndex(({ record }) => record !== undefined);
    const entry = place > 0 ? this.#entries.splice(place, 1)[0] : this.#entries.shift();
    if (entry === undefined) return;
    entry.isGone = true;
    this.goneVersion = Math.max(this.goneVersion, entry.version);
    this.bytes -= entry.bytes;
    entry.dropBodies();
  }
}

/** Monitoring probes come every few seconds, and would push everything else out. */
export function isProbe({ method, status, endpoint }: ExchangeRecord): boolean {
  return method !== 'POST' && status < 400 && endpoint === undefined;
}

function isUnremarkable({ record }: RingEntry): boolean {
  return record?.outcome === 'answered' && record.status < 400 && record.rules === undefined;
}

function lengthOf(texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}
