import { GatewayError } from '../errors.ts';

/** The most bytes of one event: pictures come whole in one, of 2 to 10 MB (googleapis/python-genai#2248, 2026-04). */
export const eventLimitBytes = 33_554_432;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const brace = 0x7b;
const space = 0x20;
const objectName = '';
const initialBytes = 1_024;

/**
 * Bytes to server-sent events, incrementally. Lines are found in the bytes and only whole lines are decoded, so characters
 * may be split anywhere; at most one event is held. Comments are announced without their text, and fields other than
 * `event` and `data` are skipped. An object that stands where an event should, as Google writes errors, is data of an event
 * whose name is empty. Throws `provider.broken_response` for an event above the limit, and for such an object with a field
 * in it, which other readers would take for the event.
 */
export class SseParser {
  readonly #onEvent: (name: string | undefined, data: string) => void;
  readonly #onComment: (() => void) | undefined;
  /** The beginning of a line whose end has not come yet. */
  #held = Buffer.allocUnsafe(initialBytes);
  #heldLength = 0;
  #eventBytes = 0;
  #name: string | undefined;
  #data: string | undefined;
  /** Whether the last line ended with a carriage return, so that a line feed right after it belongs to the same end. */
  #skipsLineFeed = false;
  #isFirstLine = true;

  constructor(onEvent: (name: string | undefined, data: string) => void, onComment?: () => void) {
    this.#onEvent = onEvent;
    this.#onComment = onComment;
  }

  /** The next bytes of the body; calls back for every event that they complete. */
  push(chunk: Uint8Array): void {
    // No new object for each piece: hosts may send single bytes.
    const bytes = Buffer.isBuffer(chunk)
      ? chunk
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    // Each is searched for again only when it has been passed.
    let nextReturn = bytes.indexOf(carriageReturn);
    let nextFeed = bytes.indexOf(lineFeed);
    while (start < bytes.length) {
      if (this.#skipsLineFeed) {
        this.#skipsLineFeed = false;
        if (bytes[start] === lineFeed) {
          start += 1;
          continue;
        }
      }
      if (nextReturn >= 0 && nextReturn < start) nextReturn = bytes.indexOf(carriageReturn, start);
      if (nextFeed >= 0 && nextFeed < start) nextFeed = bytes.indexOf(lineFeed, start);
      const isReturn = nextReturn >= 0 && (nextFeed < 0 || nextReturn < nextFeed);
      const end = isReturn ? nextReturn : nextFeed;
      if (end < 0) {
        this.#hold(bytes, start);
        return;
      }
      this.#skipsLineFeed = isReturn;
      this.#endLine(bytes, start, end);
      start = end + 1;
    }
  }

  /** Bytes of an event whose end has not come. */
  get heldBytes(): number {
    return this.#eventBytes + this.#heldLength;
  }

  /** The body ended; an event that lacks only its blank line still counts. */
  end(): void {
    const length = this.#heldLength;
    this.#heldLength = 0;
    if (length > 0) this.#readLine(this.#held, 0, length);
    this.#dispatch();
  }

  #hold(bytes: Buffer, start: number): void {
    const length = this.#heldLength + bytes.length - start;
    this.#checkLimit(length);
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#held.length * 2, length));
      this.#held.copy(larger, 0, 0, this.#heldLength);
      this.#held = larger;
    }
    bytes.copy(this.#held, this.#heldLength, start);
    this.#heldLength = length;
  }

  #checkLimit(lineBytes: number): void {
    if (this.#eventBytes + lineBytes <= eventLimitBytes) return;
    throw new GatewayError(
      'provider.broken_response',
      `an event of the provider is over ${eventLimitBytes} bytes`,
    );
  }

  #endLine(bytes: Buffer, start: number, end: number): void {
    if (this.#heldLength === 0) {
      this.#checkLimit(end - start);
      this.#readLine(bytes, start, end);
      return;
    }
    this.#hold(bytes.subarray(0, end), start);
    const length = this.#heldLength;
    this.#heldLength = 0;
    this.#readLine(this.#held, 0, length);
  }

  #readLine(bytes: Buffer, from: number, end: number): void {
    const start = this.#isFirstLine ? skipByteOrderMark(bytes, from, end) : from;
    this.#isFirstLine = false;
    if (start === end) {
      this.#dispatch();
      return;
    }
    const isFirst = this.#eventBytes === 0;
    this.#eventBytes += end - start;
    if (isFirst && bytes[start] === brace) this.#name = objectName;
    if (bytes[start] === colon && this.#name !== objectName) return this.#onComment?.();
    const isData = isField(bytes, start, end, 'data');
    if (this.#name === objectName) {
      if (isData)
        throw new GatewayError('provider.broken_response', 'an object of the provider holds an event');
      this.#add(bytes.toString('utf8', start, end));
    } else if (isData) {
      this.#add(readValue(bytes, start + 'data'.length, end));
    } else if (isField(bytes, start, end, 'event')) {
      this.#name = readValue(bytes, start + 'event'.length, end) || undefined;
    }
  }

  #add(line: string): void {
    this.#data = this.#data === undefined ? line : `${this.#data}\n${line}`;
  }

  #dispatch(): void {
    const name = this.#name;
    const data = this.#data;
    this.#name = undefined;
    this.#data = undefined;
    this.#eventBytes = 0;
    if (data !== undefined) this.#onEvent(name, data);
  }
}

function skipByteOrderMark(bytes: Buffer, start: number, end: number): number {
  const hasMark =
    end - start >= 3 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf;
  return hasMark ? start + 3 : start;
}

function isField(bytes: Buffer, start: number, end: number, field: 'data' | 'event'): boolean {
  if (end - start < field.length) return false;
  for (let index = 0; index < field.length; index += 1) {
    if (bytes[start + index] !== field.charCodeAt(index)) return false;
  }
  return end - start === field.length || bytes[start + field.length] === colon;
}

function readValue(bytes: Buffer, afterName: number, end: number): string {
  const start = afterName + 1;
  if (start >= end) return '';
  return bytes.toString('utf8', bytes[start] === space ? start + 1 : start, end);
}

/** One server-sent event: its name, if it has one, and its data. An empty name leaves the data bare. */
export interface SseEvent {
  readonly name?: string | undefined;
  readonly data: string;
}

/** An event whose data is an object. */
export function toEvent(data: object, name?: string): SseEvent {
  return { name, data: JSON.stringify(data) };
}

/** Consumes an event that is written. */
export type WriteEvent = (name: string | undefined, data: string) => void;

/** A comment, which keeps a connection alive. */
export const pingComment: SseEvent = { name: objectName, data: ': ping' };

/** A further blank line, for clients that take a comment for a part of the next event, as Google's libraries do. */
export const blankLine: SseEvent = { name: objectName, data: '' };

/** Whether an event is nothing but a comment or a blank line. */
export function isComment({ name, data }: SseEvent): boolean {
  return name === objectName && (data === '' || data.startsWith(':'));
}

/** One event as text. The data may have several lines; the name may not. An empty name leaves the data bare. */
export function formatSse(name: string | undefined, data: string): string {
  if (name === objectName) return `${data}\n\n`;
  const head = name === undefined ? '' : `event: ${name}\n`;
  return `${head}data: ${data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data}\n\n`;
}
