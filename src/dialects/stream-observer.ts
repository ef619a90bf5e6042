import { GatewayError } from '../errors.ts';
import type { Dialect } from './dialect.ts';
import { parseJson } from './fields.ts';
import { eventLimitBytes } from './sse.ts';
import { countTextTokens, StreamTally, type Tally } from './usage.ts';

const headBytes = 100;
const nothing = Buffer.alloc(0);

/**
 * Observes a provider's event stream, chunk by chunk: the usage that it reports, and whether it ended properly. Only whole
 * events are passed on, byte for byte; the beginning of one is held until the rest arrives.
 */
export class StreamObserver {
  readonly #tally = new StreamTally();
  /** Complete events so far, so that an error event can continue the count. */
  events = 0;
  /** Whether the dialect's last event was among them. */
  sawLast = false;
  readonly dialect: Dialect;
  readonly #hidesUsage: boolean;
  /** The beginning of an incomplete event, with room to grow. */
  #held: Buffer = nothing;
  #heldBytes = 0;
  /** What the incomplete line has so far. */
  #line: 'nothing' | 'a carriage return' | 'text' = 'nothing';
  /** The last two events, for hosts that omit the closing one. Events are UTF-8 read as Latin-1. */
  #previous = '';
  #latest = '';
  /** By the index of each answer that has begun, whether it was finished; of one answer, the last two events say it. */
  readonly #answers: Map<number, boolean> | undefined;

  constructor(dialect: Dialect, { hidesUsage = false, answers = 1 }: ObserverOptions = {}) {
    this.dialect = dialect;
    this.#hidesUsage = hidesUsage;
    if (answers > 1) this.#answers = new Map();
  }

  get tally(): Tally {
    const { usage, unreportedTokens } = this.#tally;
    return { usage, unreportedTokens: unreportedTokens + this.#textTokens(this.#restText) };
  }

  /** Whether a body that ends now is a whole answer. */
  get isComplete(): boolean {
    if (this.sawLast) return true;
    const rest = this.#restText;
    if (!isCompleteEvent(rest)) return false;
    const answers = new Map(this.#answers);
    for (const event of [this.#previous, this.#latest, rest]) {
      if (this.#isLast(event)) return true;
      this.#noteFinishes(event, answers);
    }
    return answers.size > 0 && [...answers.values()].every(Boolean);
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The beginning of an event whose end has not come. */
  get rest(): Buffer {
    return this.#held.subarray(0, this.#heldBytes);
  }

  get #restText(): string {
    return this.rest.toString('latin1');
  }

  /** The end of a whole answer: the last event, if only its blank line is missing. */
  finish(): Buffer {
    const last = this.#take(nothing);
    return this.#event(last.toString('latin1')) === 'hidden' ? nothing : last;
  }

  /** Where the events end in the bytes that the last chunk completed. */
  ends: number[] = [];
  /** The same bytes, read as Latin-1. */
  latin1 = '';

  /** The bytes of all events that the chunk completes. Throws provider.broken_response for an event that is too large. */
  observe(chunk: Buffer): Buffer {
    /** The event that began before this chunk, and where the chunk continues after it. */
    let first: Buffer | undefined;
    let firstEnd = 0;
    /** The events that are left out of the chunk. */
    let hidden: Range[] | undefined;
    let start = 0;
    let line = 0;
    this.ends = [];
    // Searched as a text: each search of bytes is a call out of the engine, and costs as much as passing the event on.
    const text = chunk.toString('latin1');
    // Events end with a blank line. Both kinds of line ends may meet in one stream: proxies add comments.
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', line)) {
      if (this.#isBlank(text, line, at)) {
        if (this.#heldBytes > 0) {
          first = this.#take(chunk.subarray(start, at));
          firstEnd = at;
          if (this.#event(first.toString('latin1')) === 'hidden') [first, firstEnd] = [nothing, at + 1];
          else this.#noteEnd(first.length + 1);
        } else {
          checkSize(at - start);
          const isHidden = this.#event(text.slice(start, at)) === 'hidden';
          if (isHidden) hidden = [...(hidden ?? []), { start, end: at + 1 }];
          else this.#noteEnd(at + 1 - start);
        }
        start = at + 1;
      }
      line = at + 1;
      this.#line = 'nothing';
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
    if (line < chunk.length) this.#noteLine(text, line);
    if (hidden !== undefined) {
      const passed = between(hidden, { start: firstEnd, end: start });
      const left = Buffer.concat([
        first ?? nothing,
        ...passed.map((range) => chunk.subarray(range.start, range.end)),
      ]);
      this.latin1 = left.toString('latin1');
      return left;
    }
    if (first !== undefined) {
      this.latin1 = first.toString('latin1') + text.slice(firstEnd, start);
      return Buffer.concat([first, chunk.subarray(firstEnd, start)]);
    }
    this.latin1 = start === chunk.length ? text : text.slice(0, start);
    return start === chunk.length ? chunk : chunk.subarray(0, start);
  }

  /** An event of this size is passed on. */
  #noteEnd(size: number): void {
    this.ends.push((this.ends.at(-1) ?? 0) + size);
  }

  #isBlank(text: string, start: number, end: number): boolean {
    const length = end - start;
    if (this.#line === 'nothing') return length === 0 || (length === 1 && text[start] === '\r');
    return this.#line === 'a carriage return' && length === 0;
  }

  #noteLine(text: string, start: number): void {
    const isReturn = text.length === start + 1 && text[start] === '\r';
    this.#line = isReturn && this.#line === 'nothing' ? 'a carriage return' : 'text';
  }

  /** The held beginning of an event with its end. */
  #take(end: Buffer): Buffer {
    this.#hold(end);
    const event = this.rest;
    this.#held = nothing;
    this.#heldBytes = 0;
    return event;
  }

  /** Copies into one growing buffer, so that a host that sends single bytes doesn't cost more than others. */
  #hold(rest: Buffer): void {
    const needed = this.#heldBytes + rest.length;
    checkSize(needed);
    if (needed > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#held.length * 2));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    rest.copy(this.#held, this.#heldBytes);
    this.#heldBytes = needed;
  }

  #event(event: string): 'passed' | 'hidden' {
    if (event.length <= 1 || isComment(event)) return 'passed'; // a blank line between events, or nothing but comments
    this.events += 1;
    this.#previous = this.#latest;
    this.#latest = event;
    if (this.#isLast(event)) this.sawLast = true;
    if (this.#answers !== undefined) this.#noteFinishes(event, this.#answers);
    this.#tally.addText(this.#textTokens(event));
    if (!mayHaveUsage(event)) return 'passed';
    const data = parseJson(dataOf(event)); // if it is none, the client gets the bytes as they are
    this.#tally.report(this.dialect.eventUsage(data, this.#tally.usage));
    return this.#hidesUsage && this.dialect.isUsageEvent?.(data) === true ? 'hidden' : 'passed';
  }

  #textTokens(event: string): number {
    return countTextTokens(event, this.dialect.writtenMembers);
  }

  #isLast(event: string): boolean {
    return this.dialect.isLastEvent(event.slice(0, headBytes));
  }

  /** By structure: a text or an argument may hold the names of members too. */
  #noteFinishes(event: string, answers: Map<number, boolean>): void {
    for (const [index, isFinished] of this.dialect.finishes(parseJson(dataOf(event))))
      answers.set(index, isFinished || answers.get(index) === true);
  }
}

interface ObserverOptions {
  /** Whether events that have nothing but the usage are left out. */
  readonly hidesUsage?: boolean;
  /** How many answers the request asked for. */
  readonly answers?: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** What is left of a range without others in it, which are in order. */
function between(others: readonly Range[], { start, end }: Range): readonly Range[] {
  const starts = [start, ...others.map((other) => other.end)];
  const ends = [...others.map((other) => other.start), end];
  return starts.map((from, i) => ({ start: from, end: ends[i] ?? end }));
}

function checkSize(bytes: number): void {
  if (bytes <= eventLimitBytes) return;
  throw new GatewayError('provider.broken_response', `one event is larger than ${eventLimitBytes} bytes`);
}

/** Whether what follows the last blank line is nothing, a comment or an event without its blank line. */
function isCompleteEvent(rest: string): boolean {
  const data = dataOf(rest);
  return data === '' ? !hasField(rest) : data === '[DONE]' || parseJson(data) !== undefined;
}

function isComment(event: string): boolean {
  return event[0] === ':' && !hasField(event);
}

/** Whether any line is more than a comment. */
function hasField(event: string): boolean {
  return /^(?!:)[^\r\n]/m.test(event);
}

/** Whether an event has a usage object; most have none, or null, and need not be parsed. */
function mayHaveUsage(event: string): boolean {
  const at = event.indexOf('"usage');
  if (at < 0) return false;
  return (
    /^"usage(?:Metadata)?"\s*:\s*\{/.test(event.slice(at, at + 25)) || event.indexOf('"usage', at + 7) >= 0
  );
}

/** Read as Latin-1 like the event, which changes neither its numbers and names nor whether it is JSON. */
function dataOf(event: string): string {
  const lines = event.split(/\r?\n/);
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length));
  return data.join('\n').trim();
}
