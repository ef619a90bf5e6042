import { GatewayError } from '../errors.ts';
import type { Dialect, Usage } from './dialect.ts';

/** Most bytes of one event; a longer one is no event but an attack or a fault. */
const eventLimitBytes = 1024 * 1024;
const headBytes = 100;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Watches a provider's event stream pass, chunk by chunk, without touching it: how many tokens it tells of,
 * and whether it came to a proper end.
 */
export class StreamObserver {
  usage: Usage | undefined;
  /** Events seen whole, so that an error event can go on counting. */
  events = 0;
  readonly #dialect: Dialect;
  #sawLast = false;
  /** Pieces of an event that is not whole yet. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** What separates events here: hosts write either line feeds or pairs, never both. */
  #separator: '\n\n' | '\r\n\r\n' | undefined;
  /** The last two events, for hosts that leave the closing one out. */
  #previous: Buffer | undefined;
  #latest: Buffer | undefined;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Whether a body that ends now is a whole answer. */
  get isComplete(): boolean {
    if (this.#sawLast) return true;
    const tail = [this.#previous, this.#latest, Buffer.concat(this.#held)];
    return tail.some((event) => event !== undefined && this.#dialect.mayEndAfter(event.toString('latin1')));
  }

  /** Throws provider.broken_response for an event that is too large. */
  observe(chunk: Buffer): void {
    this.#separator ??= separatorOf(chunk, this.#held.at(-1));
    const separator = this.#separator ?? '\n\n';
    let start = this.#held.length === 0 ? 0 : this.#finishHeld(chunk, separator);
    for (let end = chunk.indexOf(separator, start); end >= 0; end = chunk.indexOf(separator, start)) {
      this.#event(chunk.subarray(start, end));
      start = end + separator.length;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** Completes the held event if this chunk has its end; gives the place in the chunk to go on from. */
  #finishHeld(chunk: Buffer, separator: string): number {
    // Only the edge and the chunk are searched: a host that drips bytes must not cost more than one that doesn't.
    const pieces = this.#held
      .slice(1 - separator.length)
      .map((piece) => piece.subarray(1 - separator.length));
    const tail = Buffer.concat(pieces).subarray(1 - separator.length);
    const edge = Buffer.concat([tail, chunk.subarray(0, separator.length - 1)]).indexOf(separator);
    const after = edge >= 0 ? edge + separator.length - tail.length : endOf(chunk, separator);
    if (after < 0) return 0;
    const joined = Buffer.concat([...this.#held, chunk.subarray(0, after)]);
    this.#held = [];
    this.#heldBytes = 0;
    this.#event(joined.subarray(0, joined.length - separator.length));
    return after;
  }

  #hold(rest: Buffer): void {
    this.#held.push(rest);
    this.#heldBytes += rest.length;
    if (this.#heldBytes <= eventLimitBytes) return;
    throw new GatewayError('provider.broken_response', `one event is larger than ${eventLimitBytes} bytes`);
  }

  #event(event: Buffer): void {
    this.events += 1;
    this.#previous = this.#latest;
    this.#latest = event;
    if (this.#dialect.isLastEvent(event.toString('latin1', 0, headBytes))) this.#sawLast = true;
    if (mayTellUsage(event)) this.usage = this.#dialect.eventUsage(parseData(event), this.usage);
  }
}

function separatorOf(chunk: Buffer, before: Buffer | undefined): '\n\n' | '\r\n\r\n' | undefined {
  const first = chunk.indexOf(lineFeed);
  if (first < 0) return undefined;
  const previous = first === 0 ? before?.at(-1) : chunk[first - 1];
  return previous === carriageReturn ? '\r\n\r\n' : '\n\n';
}

function endOf(chunk: Buffer, separator: string): number {
  const at = chunk.indexOf(separator);
  return at < 0 ? -1 : at + separator.length;
}

/** Whether an event has a usage object; most have none, or null, and need not be parsed. */
function mayTellUsage(event: Buffer): boolean {
  const at = event.indexOf('"usage"');
  if (at < 0) return false;
  const after = event.toString('latin1', at + 7, at + 16);
  return /^\s*:\s*\{/.test(after) || event.indexOf('"usage"', at + 7) >= 0;
}

function parseData(event: Buffer): unknown {
  const lines = event.toString('utf8').split(/\r?\n/);
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length));
  try {
    return JSON.parse(data.join('\n'));
  } catch {
    return undefined; // not ours to judge: the client gets the bytes as they are
  }
}
