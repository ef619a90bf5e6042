import type { Dialect } from '../../dialects/dialect.ts';
import { toFailure } from '../../dialects/failure.ts';
import { formatSse, isComment, pingComment, type SseEvent, SseParser } from '../../dialects/sse.ts';
import { StreamObserver } from '../../dialects/stream-observer.ts';
import type { StreamState, StreamTranslation } from '../../dialects/translate.ts';
import type { Tally } from '../../dialects/usage.ts';
import { GatewayError } from '../../errors.ts';
import type { Stage } from '../../policy/streams/stage.ts';
import { EventReader, StreamEvent } from '../../policy/streams/stream-event.ts';
import type { Scrubber } from '../scrub.ts';
import { RulesStage } from './stream-stages.ts';

interface AnswerStreamParts {
  readonly source: EventSource;
  /** What the events pass before they leave, in this order. */
  readonly stages?: readonly Stage[];
  readonly scrubber: Scrubber;
  /** Whether the client gets one JSON array in place of events. */
  readonly isArray?: boolean;
  /** A clock in milliseconds. */
  readonly now?: () => number;
}

const nothing = Buffer.alloc(0);
/** How long nothing may leave while the provider sends. What stands between here and the client gives up after a minute or so. */
const silentMs = 10_000;

/**
 * A provider's stream on its way to the client: the events of a source pass the stages, and are written. Where no stage
 * has anything to do, the provider's own bytes pass.
 */
export class AnswerStream {
  readonly #source: EventSource;
  readonly #stages: readonly Stage[];
  readonly #scrubber: Scrubber;
  readonly #array: ArrayWriter | undefined;
  /** Whether what comes may leave as it is, if no stage has anything to do. */
  readonly #mayPass: boolean;
  /** A stage has refused: nothing that is held leaves any more. */
  #isRefused = false;
  readonly #now: () => number;
  /** Since when all that came was held. */
  #silentSinceMs: number | undefined;

  constructor({ source, stages = [], scrubber, isArray = false, now }: AnswerStreamParts) {
    this.#now = now ?? (() => performance.now());
    this.#source = source;
    this.#stages = stages;
    this.#scrubber = scrubber;
    this.#array = isArray ? new ArrayWriter() : undefined;
    this.#mayPass = !isArray && !stages.some((stage) => stage instanceof RulesStage);
  }

  /** What the client gets for a chunk: whole events, or nothing. Throws provider.broken_response and policy.blocked. */
  transform(chunk: Buffer): Buffer {
    const passed = this.#transform(chunk);
    if (passed.length === 0) return this.#whileSilent();
    this.#silentSinceMs = undefined;
    return passed;
  }

  /** Nothing, or now and then a comment. */
  #whileSilent(): Buffer {
    const nowMs = this.#now();
    this.#silentSinceMs ??= nowMs;
    const isOver = this.#source.hasLastEvent || this.#source.state !== 'open';
    if (nowMs - this.#silentSinceMs < silentMs || this.#array !== undefined || isOver) return nothing;
    this.#silentSinceMs = nowMs;
    return toBytes(this.#source.earlyHeartbeat);
  }

  /** While the provider sends nothing: a sign of life between whole events, or nothing. */
  heartbeat(): Buffer {
    if (this.#array !== undefined || this.#source.hasLastEvent || this.#source.state !== 'open')
      return nothing;
    this.#source.addHeartbeat();
    return this.#write(this.#passed(false), {});
  }

  #transform(chunk: Buffer): Buffer {
    this.#source.read(chunk);
    const { state } = this.#source;
    const isOver = this.#source.hasLastEvent || state !== 'open';
    if (this.#mayPass) {
      const { text } = this.#source;
      if (this.#stages.every((stage) => stage.passes(text))) {
        if (isOver) for (const stage of this.#stages) stage.end();
        return this.#source.pass(text);
      }
    }
    return this.#write(this.#passed(isOver), { closes: state === 'complete' || state === 'cut' });
  }

  /** The provider's body ended: returns the rest. Throws provider.broken_response if the stream was cut. */
  end(): Buffer {
    this.#source.end();
    return this.#write(this.#passed(true), { closes: true });
  }

  /**
   * What may leave of what had come, then the events that end a failed stream. What is held may be a part of a match, and
   * is dropped.
   */
  fail(error: GatewayError, requestId: string): Buffer {
    const failure = () => this.#source.fail(error, requestId);
    if (this.#isRefused) return this.#write([], { last: failure() });
    const hasFailed = this.#source.state === 'failed';
    const last = hasFailed ? [] : failure();
    try {
      return this.#write(this.#passed(false), { last });
    } catch {
      // A rule refuses now: of what had come nothing leaves, not even the provider's own error.
      return this.#write([], { last: hasFailed ? failure() : last });
    }
  }

  /** In every state but `open` the client has its last event and gets nothing more. */
  get state(): StreamState {
    return this.#source.state;
  }

  /** Whether the client has its last event, so that a connection that breaks now does no harm. */
  get hasLastEvent(): boolean {
    return this.#array === undefined ? this.#source.hasLastEvent && !this.#isRefused : this.#array.isClosed;
  }

  /** What the provider's events so far used. */
  get tally(): Tally {
    return this.#source.tally;
  }

  /** Bytes of an event whose end has not come. */
  get heldBytes(): number {
    return this.#source.heldBytes;
  }

  /** What leaves of the events that have come. */
  #passed(isOver: boolean): readonly StreamEvent[] {
    let events = this.#source.take();
    this.#isRefused = true;
    for (const stage of this.#stages) {
      const passes = events.every(({ written }) => stage.passes(written));
      const released = passes ? events : stage.push(events);
      events = isOver ? [...released, ...stage.end()] : released;
    }
    this.#isRefused = false;
    return events;
  }

  #write(events: readonly StreamEvent[], { last = [], closes = false }: Ending): Buffer {
    const array = this.#array;
    const pieces =
      array === undefined
        ? events.map((event) => event.toBytes())
        : events.flatMap((event) => array.elements(event));
    for (const event of last) pieces.push(...(array === undefined ? [toBytes(event)] : array.element(event)));
    if (closes && array !== undefined) pieces.push(...array.end());
    const [first = nothing] = pieces;
    return this.#scrubber.bytes(pieces.length <= 1 ? first : Buffer.concat(pieces));
  }
}

interface Ending {
  /** What is written behind the events. */
  readonly last?: readonly SseEvent[];
  /** Whether nothing more comes. */
  readonly closes?: boolean;
}

function toBytes({ name, data }: SseEvent): Buffer {
  return Buffer.from(formatSse(name, data));
}

/**
 * The events of a stream as the elements of one JSON array, for clients that did not ask for events. Of a stream that
 * failed the array has the error as its last element and is not closed.
 */
class ArrayWriter {
  #isBegun = false;
  isClosed = false;

  elements({ name, written: data, hasData }: StreamEvent): readonly Buffer[] {
    return hasData ? this.element({ name, data }) : [];
  }

  element(event: SseEvent): readonly Buffer[] {
    if (isComment(event)) return [];
    const text = `${this.#isBegun ? ',\n' : '['}${event.data}`;
    this.#isBegun = true;
    return [Buffer.from(text)];
  }

  end(): readonly Buffer[] {
    if (this.isClosed) return [];
    this.isClosed = true;
    return [Buffer.from(this.#isBegun ? '\n]\n' : '[]\n')];
  }
}

/** Where the events of an answer come from, in the client's dialect: split once, for all stages. */
export interface EventSource {
  /** Reads a chunk of the provider's. Throws provider.broken_response; what came before is still taken. */
  read(chunk: Buffer): void;
  /** The provider's body ended. Throws provider.broken_response if the stream was cut. */
  end(): void;
  /** What has come, as one text; bytes of the provider's own are read as Latin-1. */
  readonly text: string;
  /** Takes what has come: as it is, given that text, or as events. */
  pass(text: string): Buffer;
  take(): readonly StreamEvent[];
  /** The events that end a failed stream. */
  fail(error: GatewayError, requestId: string): readonly SseEvent[];
  /** In every state but `open` its last event has come. */
  readonly state: StreamState;
  /** Whether the client has its last event once it has all of them, so that a connection that breaks now does no harm. */
  readonly hasLastEvent: boolean;
  /** What the provider's events so far used. */
  readonly tally: Tally;
  /** Bytes of an event whose end has not come. */
  readonly heldBytes: number;
  /** Adds an event that says no more than that the answer is still being made, behind what has come. */
  addHeartbeat(): void;
  /** What the client ignores at any place of the stream. */
  readonly earlyHeartbeat: SseEvent;
}

const blankLine = Buffer.from('\n\n');

/** The provider's own events, but for the usage that the client did not ask for. */
export class ExactSource extends StreamObserver implements EventSource {
  readonly state = 'open';
  readonly #reader = new EventReader();
  #bytes: Buffer = nothing;

  get text(): string {
    return this.latin1;
  }

  get earlyHeartbeat(): SseEvent {
    return this.dialect.earlyHeartbeat ?? pingComment;
  }

  read(chunk: Buffer): void {
    this.#bytes = this.observe(chunk);
  }

  /** An event that lacks only its final blank line counts as complete. */
  end(): void {
    if (!this.isComplete)
      throw new GatewayError('provider.broken_response', 'the provider ended its stream in the middle');
    this.#bytes = this.finish();
    this.ends = [this.#bytes.length];
  }

  addHeartbeat(): void {
    // OpenAI's SDK refuses a stream that begins with another event than its first.
    const sign = this.events === 0 ? this.earlyHeartbeat : (this.dialect.heartbeat ?? pingComment);
    this.#bytes = toBytes(sign);
    this.ends = [this.#bytes.length];
  }

  pass(): Buffer {
    const bytes = this.#bytes;
    this.#bytes = nothing;
    return bytes;
  }

  take(): readonly StreamEvent[] {
    const { ends } = this;
    const bytes = this.pass();
    if (bytes.length === 0) return [];
    let start = 0;
    const events: StreamEvent[] = [];
    for (const end of ends) {
      events.push(...readEvents(this.#reader, bytes.subarray(start, end)));
      start = end;
    }
    return events;
  }

  /**
   * An incomplete event is dropped: clients would wait for its end and never see the error event. But the provider's own
   * error, if only its blank line is missing, says more than that the stream was cut.
   */
  fail(error: GatewayError, requestId: string): readonly SseEvent[] {
    if (!isBareError(this.rest, this.dialect))
      return [this.dialect.errorEvent(toFailure(error, requestId), this.events)];
    this.#bytes = Buffer.concat([this.rest, blankLine]);
    this.ends = [this.#bytes.length];
    return [];
  }

  get hasLastEvent(): boolean {
    return this.sawLast;
  }
}

/** Whether bytes are an error as it stands in the streams of a dialect that writes it without `data:`. */
function isBareError(bytes: Buffer, { hasOwnErrors, isErrorBody }: Dialect): boolean {
  if (hasOwnErrors !== true || bytes[0] !== 0x7b) return false;
  try {
    return isErrorBody(JSON.parse(bytes.toString()));
  } catch {
    return false;
  }
}

const usualEvent = /^(?:event: ?([^\r\n]+)\r?\n)?data: ?([^\r\n]*)\r?\n?\r?\n?$/;

/** The event between two blank lines, in its own bytes; several, where a client may see further blank lines. */
function readEvents(reader: EventReader, bytes: Buffer): readonly StreamEvent[] {
  const usual = usualEvent.exec(bytes.toString());
  if (usual !== null) return [new StreamEvent(reader, { name: usual[1], data: usual[2] ?? '' }, bytes)];
  const events: SseEvent[] = [];
  const parser = new SseParser((name, data) => events.push({ name, data }));
  parser.push(bytes);
  parser.end();
  const [only] = events;
  if (only === undefined) return [StreamEvent.withoutData(reader, bytes)];
  return events.length === 1
    ? [new StreamEvent(reader, only, bytes)]
    : events.map((event) => new StreamEvent(reader, event));
}

/** The provider's events, each translated into events of the client's dialect. */
export class TranslatedSource implements EventSource {
  readonly #translation: StreamTranslation;
  readonly #parser: SseParser;
  readonly #reader = new EventReader();
  #events: SseEvent[] = [];

  constructor(translation: StreamTranslation) {
    this.#translation = translation;
    this.#parser = new SseParser(
      (name, data) => this.#add(translation.event(name, data)),
      () => this.#add(translation.comment()),
    );
  }

  read(chunk: Buffer): void {
    this.#parser.push(chunk);
  }

  addHeartbeat(): void {
    this.#add(this.#translation.comment());
  }

  get earlyHeartbeat(): SseEvent {
    return this.#translation.earlyHeartbeat;
  }

  end(): void {
    this.#parser.end();
    this.#add(this.#translation.end());
  }

  #add(events: readonly SseEvent[]): void {
    for (const event of events) this.#events.push(event);
  }

  get text(): string {
    let text = '';
    for (const { name, data } of this.#events) text += formatSse(name, data);
    return text;
  }

  pass(text: string): Buffer {
    this.#events = [];
    return Buffer.from(text);
  }

  take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events.map((event) =>
      isComment(event)
        ? StreamEvent.withoutData(this.#reader, Buffer.from(formatSse(event.name, event.data)))
        : new StreamEvent(this.#reader, event),
    );
  }

  fail(error: GatewayError, requestId: string): readonly SseEvent[] {
    return this.#translation.fail(error, requestId);
  }

  get state(): StreamState {
    return this.#translation.state;
  }

  get hasLastEvent(): boolean {
    return this.state === 'complete' || this.state === 'cut';
  }

  get heldBytes(): number {
    return this.#parser.heldBytes;
  }

  get tally(): Tally {
    const { usage, unreportedTokens } = this.#translation.tally;
    return { usage, unreportedTokens: unreportedTokens + this.#parser.heldBytes };
  }
}
