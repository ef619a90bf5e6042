import { formatSse, isComment, type SseEvent } from '../../dialects/sse.ts';
import type { StreamState } from '../../dialects/translate.ts';
import type { Tally } from '../../dialects/usage.ts';
import type { GatewayError } from '../../errors.ts';
import type { Stage } from '../../policy/streams/stage.ts';
import type { StreamEvent } from '../../policy/streams/stream-event.ts';
import type { Scrubber } from '../scrub.ts';
import type { EventSource } from './event-source.ts';
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
