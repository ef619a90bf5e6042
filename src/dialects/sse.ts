import { GatewayError } from '../errors.ts';

/** The most bytes one event may have; nothing sensible comes near it. */
export const eventLimitBytes = 1_048_576;

export interface SseParser {
  /** The next bytes of the body; calls back for every event that they complete. */
  push(chunk: Uint8Array): void;
  /** The body ended; an event that lacks only its blank line still counts. */
  end(): void;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const space = 0x20;
const initialBytes = 1_024;

/**
 * Bytes to server-sent events, incrementally. Lines are found in the bytes and only whole lines are decoded,
 * so characters may be split anywhere; at most one event is held. Comments and fields other than `event` and
 * `data` are skipped. Throws `provider.broken_response` for an event above the limit.
 */
export function createSseParser(onEvent: (name: string | undefined, data: string) => void): SseParser {
  /** The beginning of a line whose end has not come yet. */
  let held = Buffer.allocUnsafe(initialBytes);
  let heldLength = 0;
  let eventBytes = 0;
  let name: string | undefined;
  let data: string | undefined;
  let skipsLineFeed = false;
  let isFirstLine = true;

  function push(chunk: Uint8Array): void {
    // Without a new object for each piece: hosts may send single bytes.
    const bytes = Buffer.isBuffer(chunk)
      ? chunk
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    let nextReturn = bytes.indexOf(carriageReturn);
    while (start < bytes.length) {
      if (skipsLineFeed) {
        skipsLineFeed = false;
        if (bytes[start] === lineFeed) {
          start += 1;
          continue;
        }
      }
      if (nextReturn >= 0 && nextReturn < start) nextReturn = bytes.indexOf(carriageReturn, start);
      const nextFeed = bytes.indexOf(lineFeed, start);
      const isReturn = nextReturn >= 0 && (nextFeed < 0 || nextReturn < nextFeed);
      const end = isReturn ? nextReturn : nextFeed;
      if (end < 0) {
        hold(bytes, start);
        return;
      }
      skipsLineFeed = isReturn;
      endLine(bytes, start, end);
      start = end + 1;
    }
  }

  function hold(bytes: Buffer, start: number): void {
    const length = bytes.length - start;
    checkLimit(heldLength + length);
    if (heldLength + length > held.length) {
      const larger = Buffer.allocUnsafe(Math.max(held.length * 2, heldLength + length));
      held.copy(larger, 0, 0, heldLength);
      held = larger;
    }
    bytes.copy(held, heldLength, start);
    heldLength += length;
  }

  function checkLimit(lineBytes: number): void {
    if (eventBytes + lineBytes <= eventLimitBytes) return;
    throw new GatewayError(
      'provider.broken_response',
      `an event of the provider is over ${eventLimitBytes} bytes`,
    );
  }

  function endLine(bytes: Buffer, start: number, end: number): void {
    if (heldLength === 0) {
      checkLimit(end - start);
      readLine(bytes, start, end);
      return;
    }
    hold(bytes.subarray(0, end), start);
    const length = heldLength;
    heldLength = 0;
    readLine(held, 0, length);
  }

  function readLine(bytes: Buffer, from: number, end: number): void {
    const start = isFirstLine ? skipMark(bytes, from, end) : from;
    isFirstLine = false;
    if (start === end) {
      dispatch();
      return;
    }
    eventBytes += end - start;
    if (isField(bytes, start, end, 'data')) {
      const value = readValue(bytes, start + 'data'.length, end);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (isField(bytes, start, end, 'event')) {
      name = readValue(bytes, start + 'event'.length, end);
    }
  }

  function dispatch(): void {
    const eventName = name;
    const eventData = data;
    name = undefined;
    data = undefined;
    eventBytes = 0;
    if (eventData !== undefined) onEvent(eventName, eventData);
  }

  return {
    push,
    end() {
      const length = heldLength;
      heldLength = 0;
      if (length > 0) readLine(held, 0, length);
      dispatch();
    },
  };
}

function skipMark(bytes: Buffer, start: number, end: number): number {
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

/** One event as text. The data may have several lines; the name may not. */
export function formatSse(name: string | undefined, data: string): string {
  const head = name === undefined ? '' : `event: ${name}\n`;
  return `${head}data: ${data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data}\n\n`;
}
