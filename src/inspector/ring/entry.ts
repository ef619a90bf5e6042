import type { EndedExchange, ReadBody, SentRequest, Subscriber } from '../../gateway/subscriber.ts';
import type { ExchangeRecord } from '../../record/record.ts';

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

/**
 * What is kept of one exchange. While the page isn't open, it only references what the exchange has created anyway (record
 * and headers) and reads the clock; everything that is shown is computed from that on demand.
 */
export class RingEntry implements Subscriber {
  /** In the order in which the requests were here; 0 while it is not in the ring. */
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
  readonly sent: SentEntry[] = [];
  readAtMs: number | undefined;
  admittedAtMs: number | undefined;
  /** Set if it had to wait for a slot at the provider. */
  queuedUntilMs: number | undefined;
  leftAtMs: number | undefined;
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

  get hasBodies(): boolean {
    return this.receivedBody !== undefined;
  }

  read({ shown }: Pick<ReadBody, 'shown'>): void {
    this.readAtMs = this.#elapsedMs();
    if (this.#keeper.keepsBodies) {
      // A copy: the body may be a part of a larger buffer, or move to another thread.
      this.receivedBody = Buffer.from(shown());
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
    this.sent.push({ head, atMs });
    if (this.receivedBody !== undefined && this.#keeper.keepsBodies) this.#keepSent(body);
    this.#keeper.changed(this);
  }

  answering(leftAtMs: number): void {
    this.leftAtMs = leftAtMs - this.#startedAt;
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
export function recalledEntry(record: ExchangeRecord, keeper: EntryKeeper): RingEntry {
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
