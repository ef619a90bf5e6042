import type { KeyRecord } from '../config/build/keys.ts';
import type { Tally } from '../dialects/usage.ts';
import type { GatewayError } from '../errors.ts';
import type { MaskedValues } from '../policy/mask/masked-values.ts';
import type { ChosenRoute } from '../policy/routes.ts';
import type { Action, Decision, Verdict } from '../policy/rule.ts';
import type { AbandonedAttempt, Attempt } from '../providers/attempt.ts';
import type { Target } from '../providers/route.ts';
import type { ExchangeRecord } from '../record/record.ts';
import type { Scrubber } from './scrub.ts';
import type { Sender } from './sender.ts';

/**
 * Follows one exchange. Each method is one event: most come at most once, `checked` for each target, `targeted`, `sending`
 * and `attemptEnded` for each attempt, `wrote` for each piece. A whole answer is read before it is written, a stream after.
 * They are called on the request path: a subscriber must neither throw nor block, and changes nothing that it gets; only
 * tracing adds its headers to a request that is about to be sent.
 */
export interface Subscriber {
  /** The request's head has been read. The path is as records may have it. */
  received?(path: string): void;
  /** The key is known. */
  authenticated?(caller: Caller): void;
  /** The body is complete. Its memory may move to another thread afterwards: copy what must be kept. */
  read?(body: ReadBody): void;
  /** The policies have decided on the client's request. */
  decided?(decided: Decided): void;
  /** What rules found in the request for one target, which is about to be asked or is why the request is refused. */
  checked?(findings: readonly OutgoingFinding[]): void;
  /** Limits and ledger let the request pass, too. */
  reserved?(): void;
  /** A target is to be asked, as soon as it has a slot for the request. */
  targeted?(target: Target, request: OutgoingRequest): void;
  /** A request is about to leave. */
  sending?(sent: SentRequest): void;
  /** The request has the head of its answer, has failed, or was given up. */
  attemptEnded?(attempt: Attempt | AbandonedAttempt): void;
  /** The provider's answer is to be passed on. `sentAtMs`: when the request began to leave, by `performance.now()`. */
  answering?(sentAtMs: number): void;
  /** A piece of the answer leaves for the client, the error event of a stream too; the first one is the first byte. */
  wrote?(piece: Buffer): void;
  /** The provider's answer is read and checked, before its last byte leaves. Also when a stream breaks off; not for a whole answer. */
  answerRead?(answer: ReadAnswer): void;
  /** The gateway has given an answer of its own. */
  answeredItself?(bytes: number): void;
  /** The exchange was refused or broke off. `isAnswered`: the client gets the error as its answer, in place of the provider's. */
  failed?(error: GatewayError, isAnswered: boolean): void;
  /** The exchange is over. Not for what is never recorded, such as health checks, and not if the process ends at once. */
  ended?(end: EndedExchange): void;
}

export interface Caller extends Pick<KeyRecord, 'project' | 'id'> {
  /** The endpoint's name. */
  readonly endpoint: string;
  /** The id of the `gateway run` that its key names. */
  readonly run: string | undefined;
}

export interface ReadBody {
  readonly body: Buffer;
  /** Who sent it, as far as the head says. */
  readonly sender: Sender;
  /** Whether the record is to have it. */
  readonly isRecorded: boolean;
  /** Scrubs the client's own login; undefined if it has sent none. */
  readonly scrubber: Scrubber | undefined;
}

/** The body as it may be shown: without the client's own login. */
export function shownBody({ body, scrubber }: Pick<ReadBody, 'body' | 'scrubber'>): Buffer {
  return scrubber?.bytes(body) ?? body;
}

export interface Decided {
  readonly decision: Decision;
  /** Where it goes, or would have gone. */
  readonly route: ChosenRoute;
  readonly microseconds: number;
  /** With what rules replaced. The memory of the one that was read may be here now. */
  readonly body: Buffer;
  /** As it may be shown; empty if a rule objects to it. */
  readonly model: string;
  readonly stream: boolean;
  /** Who sent it, as far as head and body say. */
  readonly sender: Sender;
  /** The part of it that may be shown. */
  readonly shownSender: Sender;
}

/** What rules found in a part of what is to leave. */
export interface OutgoingFinding {
  readonly action: Action;
  readonly verdicts: readonly Verdict[];
  readonly unseen: number;
  readonly microseconds: number;
}

/** A request as one target gets it. */
export interface OutgoingRequest {
  /** What became of the client's bytes: exact, spliced, translated, masked or redacted. */
  readonly form: string;
  readonly path: string;
  /** A flat list of names and values. */
  readonly headers: string[];
  readonly body: Buffer;
  /** The values to restore in the answer; absent if none was masked. */
  readonly masked?: MaskedValues | undefined;
  /** Fields and headers that were left out. */
  readonly dropped: readonly string[];
  /** Members and headers that the model list has changed. */
  readonly changed: readonly string[];
}

export interface SentRequest {
  readonly target: Target;
  readonly request: OutgoingRequest;
  /** Whether it had to wait for its slot. */
  readonly hasWaited: boolean;
}

/** What came of an answer, as far as it was read. */
export interface SeenAnswer {
  readonly tally: Tally;
  /** `cut`: by the gateway or its client. `unread`: more of it may have been written than was read. */
  readonly extent: 'whole' | 'cut' | 'unread';
}

export interface ReadAnswer {
  /** Undefined for an error of the provider's. */
  readonly seen: SeenAnswer | undefined;
  /** What the rules on the answer found. */
  readonly verdicts: readonly Verdict[];
  /** How often placeholders were restored, or came back broken. */
  readonly masking: Pick<ExchangeRecord, 'restored' | 'broken_placeholders'>;
  /** Details of the provider's failure that the client is not sent; without secrets. */
  readonly cause?: string | undefined;
}

export interface EndedExchange {
  readonly record: ExchangeRecord;
  /** What the client was sent if it was refused or failed. */
  readonly message: string | undefined;
  /** See `RecordDraft.repeatKey`. */
  readonly repeatKey: string | undefined;
}

/** Publishes each event to all subscribers of an exchange, in their order. */
export class Subscribers implements Required<Subscriber> {
  readonly #all: readonly Subscriber[];

  constructor(all: readonly Subscriber[]) {
    this.#all = all;
  }

  received(path: string): void {
    for (const each of this.#all) each.received?.(path);
  }

  authenticated(caller: Caller): void {
    for (const each of this.#all) each.authenticated?.(caller);
  }

  read(body: ReadBody): void {
    for (const each of this.#all) each.read?.(body);
  }

  decided(decided: Decided): void {
    for (const each of this.#all) each.decided?.(decided);
  }

  checked(findings: readonly OutgoingFinding[]): void {
    for (const each of this.#all) each.checked?.(findings);
  }

  reserved(): void {
    for (const each of this.#all) each.reserved?.();
  }

  targeted(target: Target, request: OutgoingRequest): void {
    for (const each of this.#all) each.targeted?.(target, request);
  }

  sending(sent: SentRequest): void {
    for (const each of this.#all) each.sending?.(sent);
  }

  attemptEnded(attempt: Attempt | AbandonedAttempt): void {
    for (const each of this.#all) each.attemptEnded?.(attempt);
  }

  answering(sentAtMs: number): void {
    for (const each of this.#all) each.answering?.(sentAtMs);
  }

  wrote(piece: Buffer): void {
    for (const each of this.#all) each.wrote?.(piece);
  }

  answerRead(answer: ReadAnswer): void {
    for (const each of this.#all) each.answerRead?.(answer);
  }

  answeredItself(bytes: number): void {
    for (const each of this.#all) each.answeredItself?.(bytes);
  }

  failed(error: GatewayError, isAnswered: boolean): void {
    for (const each of this.#all) each.failed?.(error, isAnswered);
  }

  ended(end: EndedExchange): void {
    for (const each of this.#all) each.ended?.(end);
  }
}
