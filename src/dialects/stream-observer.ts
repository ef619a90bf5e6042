import { GatewayError } from '../errors.ts';
import type { Dialect } from './dialect.ts';
import { eventLimitBytes } from './sse.ts';
import { countTextTokens } from './text-tokens.ts';
import { StreamTally, type Tally } from './usage.ts';

const headBytes = 100;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const nothing = Buffer.alloc(0);

interface StreamOptions {
  /** Whether events that have nothing but the usage are left out; false by default. */
  readonly hidesUsage?: boolean;
}

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
  readonly #dialect: Dialect;
  readonly #hidesUsage: boolean;
  /** The beginning of an incomplete event, with room to grow. */
  #held: Buffer = nothing;
  #heldBytes = 0;
  /** What the incomplete line has so far. */
  #line: 'nothing' | 'a carriage return' | 'text' = 'nothing';
  /** The last two events, for hosts that omit the closing one. */
  #previous: Buffer | undefined;
  #latest: Buffer | undefined;

  constructor(dialect: Dialect, { hidesUsage = false }: StreamOptions = {}) {
    this.#dialect = dialect;
    this.#hidesUsage = hidesUsage;
  }

  get tally(): Tally {
    const { usage, unreportedTokens } = this.#tally;
    return { usage, unreportedTokens: unreportedTokens + this.#textTokens(this.rest) };
  }

  /** Whether a body that ends now is a whole answer. */
  get isComplete(): boolean {
    if (this.sawLast) return true;
    if (!isWhole(this.rest)) return false;
    return [this.#previous, this.#latest, this.rest].some(
      (event) => event !== undefined && this.#mayEnd(event),
    );
  }

  /** The beginning of an event whose end has not come. */
  get rest(): Buffer {
    return this.#held.subarray(0, this.#heldBytes);
  }

  /** The end of a whole answer: the last event, if only its blank line is missing. */
  finish(): Buffer {
    const last = this.#take(nothing);
    return this.#event(last) === 'hidden' ? nothing : last;
  }

  /** The bytes of all events that the chunk completes. Throws provider.broken_response for an event that is too large. */
  observe(chunk: Buffer): Buffer {
    /** The event that began before this chunk, and where the chunk continues after it. */
    let first: Buffer | undefined;
    let firstEnd = 0;
    /** The events that are left out of the chunk. */
    let hidden: Range[] | undefined;
    let start = 0;
    let line = 0;
    // Events end with a blank line. Both kinds of line ends may meet in one stream: proxies add comments.
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, line)) {
      if (this.#isBlank(chunk, line, at)) {
        if (this.#heldBytes > 0) {
          first = this.#take(chunk.subarray(start, at));
          firstEnd = at;
          if (this.#event(first) === 'hidden') [first, firstEnd] = [nothing, at + 1];
        } else {
          checkSize(at - start);
          const isHidden = this.#event(chunk.subarray(start, at)) === 'hidden';
          if (isHidden) hidden = [...(hidden ?? []), { start, end: at + 1 }];
        }
        start = at + 1;
      }
      line = at + 1;
      this.#line = 'nothing';
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
    if (line < chunk.length) this.#noteLine(chunk, line);
    if (hidden !== undefined) {
      const passed = between(hidden, { start: firstEnd, end: start });
      return Buffer.concat([
        first ?? nothing,
        ...passed.map((range) => chunk.subarray(range.start, range.end)),
      ]);
    }
    if (first !== undefined) return Buffer.concat([first, chunk.subarray(firstEnd, start)]);
    return start === chunk.length ? chunk : chunk.subarray(0, start);
  }

  #isBlank(chunk: Buffer, start: number, end: number): boolean {
    const length = end - start;
    if (this.#line === 'nothing') return length === 0 || (length === 1 && chunk[start] === carriageReturn);
    return this.#line === 'a carriage return' && length === 0;
  }

  #noteLine(chunk: Buffer, start: number): void {
    const isReturn = chunk.length === start + 1 && chunk[start] === carriageReturn;
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

  #event(event: Buffer): 'passed' | 'hidden' {
    if (event.length <= 1 || isComment(event)) return 'passed'; // a blank line between events, or nothing but comments
    this.events += 1;
    this.#previous = this.#latest;
    this.#latest = event;
    if (this.#isLast(event)) this.sawLast = true;
    this.#tally.addText(this.#textTokens(event));
    if (!mayHaveUsage(event)) return 'passed';
    const data = parseData(event);
    this.#tally.report(this.#dialect.eventUsage(data, this.#tally.usage));
    return this.#hidesUsage && this.#dialect.isUsageEvent?.(data) === true ? 'hidden' : 'passed';
  }

  #textTokens(event: Buffer): number {
    return countTextTokens(event.toString('latin1'), this.#dialect.writtenMembers);
  }

  #isLast(event: Buffer): boolean {
    return this.#dialect.isLastEvent(event.toString('latin1', 0, headBytes));
  }

  #mayEnd(event: Buffer): boolean {
    return this.#isLast(event) || this.#dialect.mayEndAfter(event.toString('latin1'));
  }
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
function isWhole(rest: Buffer): boolean {
  const data = dataOf(rest);
  return data === '' ? !hasField(rest) : data === '[DONE]' || isJson(data);
}

function isComment(event: Buffer): boolean {
  return event[0] === colon && !hasField(event);
}

/** Whether any line is more than a comment. */
function hasField(event: Buffer): boolean {
  return /^(?!:)[^\r\n]/m.test(event.toString('latin1'));
}

/** Whether an event has a usage object; most have none, or null, and need not be parsed. */
function mayHaveUsage(event: Buffer): boolean {
  const at = event.indexOf('"usage"');
  if (at < 0) return false;
  const after = event.toString('latin1', at + 7, at + 16);
  return /^\s*:\s*\{/.test(after) || event.indexOf('"usage"', at + 7) >= 0;
}

function parseData(event: Buffer): unknown {
  try {
    return JSON.parse(dataOf(event));
  } catch {
    return undefined; // not JSON: the client gets the bytes as they are
  }
}

function dataOf(event: Buffer): string {
  const lines = event.toString('utf8').split(/\r?\n/);
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length));
  return data.join('\n').trim();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
