import {
  type EndedExchange,
  type ReadBody,
  type SentRequest,
  type Subscriber,
  shownBody,
} from '../../gateway/subscriber.ts';
import type { ExchangeRecord } from '../../record/record.ts';
import type { KeepBodiesResponse } from '../contract/actions.ts';

const defaultLimits = { exchanges: 500, bytes: 64 * 1024 * 1024 };

const minuteMs = 60_000;
/**
 * While nobody watches, so many exchanges enter at once, and then per second, of those with nothing remarkable: at
 * thousands a second the list would reach back a moment only, and entries that are gone at once cost a tenth of all CPU,
 * because the garbage collector copies each one twice.
 */
const maxEntering = { atOnce: 500, perSecond: 50 };
/** Approximate bytes of an entry with its record, without headers. */
const entryBytes = 2_048;

/**
 * The last exchanges, bounded in number and bytes: the oldest bodies go first, then the oldest exchanges. Those that were
 * refused, failed or matched a rule stay longer, in up to half of the places, and those that are open until they end. When
 * more come than anybody could read, and nobody watches, some of the others stay out.
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
  #mayEnter = maxEntering.atOnce;
  #enteredMs = 0;

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
  get keeping(): KeepBodiesResponse {
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
    if (!isRemarkable(entry) && this.#isCrowded()) return;
    if (this.size === this.limits.exchanges) this.#dropOldest();
    this.#newest += 1;
    entry.seq = this.#newest;
    this.#entries.push(entry);
    this.grew(entry, entryBytes + lengthOf(entry.rawHeaders));
    this.changed(entry);
  }

  #isCrowded(): boolean {
    if (this.onChange !== undefined || this.keepsBodies) return false;
    const now = performance.now();
    const more = ((now - this.#enteredMs) / 1_000) * maxEntering.perSecond;
    this.#mayEnter = Math.min(maxEntering.atOnce, this.#mayEnter + more);
    this.#enteredMs = now;
    if (this.#mayEnter < 1) return true;
    this.#mayEnter -= 1;
    return false;
  }

  finished(entry: RingEntry, record: ExchangeRecord): void {
    if (entry.seq > 0) this.changed(entry);
    else if (!isProbe(record)) this.opened(entry);
  }

  changed(entry: RingEntry): void {
    if (entry.seq === 0) {
      // It stayed out, and a page has been opened meanwhile.
      if (this.onChange !== undefined && entry.isOpen) this.opened(entry);
      return;
    }
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
    const near = this.#entries.findIndex((each, index) => {
      return index <= half && each.record !== undefined && !isRemarkable(each);
    });
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

/** Whether it was refused, failed or left, or matched a rule. */
function isRemarkable({ record }: RingEntry): boolean {
  if (record === undefined) return false;
  return record.outcome !== 'answered' || record.status >= 400 || record.rules !== undefined;
}

function lengthOf(texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}

/** A piece of an answer, and when it was sent: milliseconds after the request's head arrived. */
export interface AnswerPiece {
  readonly bytes: Buffer;
  readonly atMs: number;
}

/** What can be read of an exchange while it is open. */
export interface FollowedExchange {
  readonly id: string;
  readonly request: { readonly rawHeaders: readonly string[] };
  /** `headers` are a flat list, as the client gets them; empty before they are sent. */
  readonly response: { readonly headers: readonly string[] };
  /** The record as far as it is known so far, and when the head arrived, by `performance.now()`. */
  readonly record: { readonly soFar: Partial<ExchangeRecord>; readonly startedAt: number };
}

/** A request as one provider gets it, without its body. */
interface SentHead {
  readonly provider: string;
  readonly model: string;
  /** What happened to the client's bytes. */
  readonly form: string;
  readonly path: string;
  /** A flat list of names and values. */
  readonly headers: readonly string[];
}

/** A head, and when it was sent. */
export interface SentEntry {
  readonly head: SentHead;
  /** Milliseconds after the request's head arrived. */
  readonly atMs: number;
}

/** What an entry needs from its ring. */
export interface EntryKeeper {
  readonly keepsBodies: boolean;
  /** The request is here. */
  opened(entry: RingEntry): void;
  finished(entry: RingEntry, record: ExchangeRecord): void;
  /** Something about the entry has changed. */
  changed(entry: RingEntry): void;
  /** The entry holds this many more bytes. */
  grew(entry: RingEntry, bytes: number): void;
}

/** Maximum bytes kept of one answer; the rest is left out. */
const answerLimitBytes = 8 * 1024 * 1024;
/** Each piece is an object of its own, even a short one. */
const pieceBytes = 100;

const noneSent: readonly SentEntry[] = [];

/**
 * What is kept of one exchange. While the page isn't open, it only references what the exchange has created anyway (record
 * and headers) and reads the clock; everything that is shown is computed from that on demand.
 */
export class RingEntry implements Subscriber {
  /** In the order in which they entered the ring; 0 while it is not in it. */
  seq = 0;
  /** It has left the ring. */
  isGone = false;
  /** The ring's version when this entry last changed. */
  version = 0;
  /** Approximate size of everything that it holds. */
  bytes = 0;
  readonly id: string;
  readonly rawHeaders: readonly string[];
  /** Only while it is open. */
  exchange: FollowedExchange | undefined;
  record: ExchangeRecord | undefined;
  /** The error that the client got if the exchange was refused or failed. */
  message: string | undefined;
  #answerHeaders: readonly string[] | undefined;
  sent: readonly SentEntry[] = noneSent;
  readAtMs: number | undefined;
  admittedAtMs: number | undefined;
  /** Set if it had to wait for a slot at the provider. */
  queuedUntilMs: number | undefined;
  sentAtMs: number | undefined;
  bytesOut = 0;
  receivedBody: Buffer | undefined;
  sentBody: Buffer | undefined;
  answer: AnswerPiece[] | undefined;
  answerBytes = 0;
  /** The id of the exchange that this one repeats. */
  again: string | undefined;
  /** The exchange's own start, so that both measure from the same moment and the clock is read once less. */
  readonly #startedAt: number;
  readonly #keeper: EntryKeeper;

  constructor(exchange: FollowedExchange, keeper: EntryKeeper) {
    this.exchange = exchange;
    this.id = exchange.id;
    this.rawHeaders = exchange.request.rawHeaders;
    this.#startedAt = exchange.record.startedAt;
    this.#keeper = keeper;
  }

  /** The record, or the part of it that is known so far. */
  get soFar(): Partial<ExchangeRecord> {
    return this.record ?? this.exchange?.record.soFar ?? {};
  }

  /** Empty until the answer has begun. */
  get answerHeaders(): readonly string[] {
    return this.#answerHeaders ?? this.exchange?.response.headers ?? [];
  }

  /** Whether the request is here and its answer isn't over. */
  get isOpen(): boolean {
    return this.readAtMs !== undefined && this.exchange !== undefined;
  }

  get hasBodies(): boolean {
    return this.receivedBody !== undefined;
  }

  read(read: Pick<ReadBody, 'body' | 'scrubber'>): void {
    this.readAtMs = this.#elapsedMs();
    if (this.#keeper.keepsBodies) {
      // A copy: the body may be a part of a larger buffer, or move to another thread.
      this.receivedBody = Buffer.from(shownBody(read));
      this.answer = [];
    }
    this.#keeper.opened(this);
    if (this.receivedBody !== undefined) this.#keeper.grew(this, this.receivedBody.length);
  }

  reserved(): void {
    this.admittedAtMs = this.#elapsedMs();
  }

  sending({ target, request, hasWaited }: SentRequest): void {
    const { form, path, headers, body } = request;
    const atMs = this.#elapsedMs();
    if (hasWaited && this.sent.length === 0) this.queuedUntilMs = atMs;
    // A copy: when it is sent again, spans change their header in the same list.
    const head = {
      provider: target.provider.options.name,
      model: target.model,
      form,
      path,
      headers: [...headers],
    };
    const sent = { head, atMs };
    this.sent = this.sent.length === 0 ? [sent] : [...this.sent, sent];
    if (this.receivedBody !== undefined && this.#keeper.keepsBodies) this.#keepSent(body);
    this.#keeper.changed(this);
  }

  answering(sentAtMs: number): void {
    this.sentAtMs = sentAtMs - this.#startedAt;
  }

  wrote(piece: Buffer): void {
    this.bytesOut += piece.length;
    if (this.answer !== undefined) this.#keepPiece(this.answer, piece);
    this.#keeper.changed(this);
  }

  ended({ record, message }: Pick<EndedExchange, 'record' | 'message'>): void {
    this.record = withoutBody(record);
    this.message = message;
    this.#answerHeaders = this.exchange?.response.headers;
    this.exchange = undefined;
    this.#keeper.finished(this, record);
  }

  /** Drops the bodies; returns how many bytes that frees. */
  dropBodies(): number {
    const held = (this.receivedBody?.length ?? 0) + this.#sentBytes() + this.answerBytes;
    this.receivedBody = undefined;
    this.sentBody = undefined;
    this.answer = undefined;
    this.answerBytes = 0;
    this.bytes -= held;
    return held;
  }

  /** Only of the last attempt, which is the one that was answered. */
  #keepSent(body: Buffer): void {
    const before = this.#sentBytes();
    const received = this.receivedBody as Buffer; // the caller has checked
    this.sentBody = received.equals(body) ? received : Buffer.from(body);
    this.#keeper.grew(this, this.#sentBytes() - before);
  }

  #keepPiece(answer: AnswerPiece[], piece: Buffer): void {
    if (this.answerBytes + piece.length + pieceBytes > answerLimitBytes) return;
    answer.push({ bytes: Buffer.from(piece), atMs: this.#elapsedMs() });
    this.answerBytes += piece.length + pieceBytes;
    this.#keeper.grew(this, piece.length + pieceBytes);
  }

  #sentBytes(): number {
    return this.sentBody === this.receivedBody ? 0 : (this.sentBody?.length ?? 0);
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }
}

/** An entry with only its record left. */
function recalledEntry(record: ExchangeRecord, keeper: EntryKeeper): RingEntry {
  const exchange: FollowedExchange = {
    id: record.request_id,
    request: { rawHeaders: [] },
    response: { headers: [] },
    record: { soFar: {}, startedAt: 0 },
  };
  const entry = new RingEntry(exchange, keeper);
  entry.exchange = undefined;
  entry.record = withoutBody(record);
  return entry;
}

/** Bodies are kept separately, where their size is counted. */
function withoutBody(record: ExchangeRecord): ExchangeRecord {
  if (record.request_body === undefined) return record;
  const { request_body: _, ...rest } = record;
  return rest;
}
