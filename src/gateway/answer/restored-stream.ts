import { formatSse, SseParser } from '../../dialects/sse.ts';
import type { Restorer } from '../../policy/mask/restorer.ts';
import { type RestoredEvent, StreamRestorer } from '../../policy/mask/stream-restorer.ts';
import { type AnswerStream, Stage } from './answer-stream.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const dataField = Buffer.from('data:');
const eventField = Buffer.from('event:');
const nothing = Buffer.alloc(0);

/** One event in its own bytes, so that all of it but the data stays as it came. */
interface RawEvent {
  readonly bytes: Buffer;
  readonly name: string | undefined;
  readonly data: Buffer;
}

/**
 * A stream in which the client gets the values that its request held in place of their placeholders. Comes behind the
 * rules on answers, which judge what the provider said. What is held when it fails may be a part of a placeholder, and is
 * dropped.
 */
export class RestoredStream extends Stage {
  readonly #restorer: StreamRestorer<RawEvent>;

  constructor(inner: AnswerStream, restorer: Restorer) {
    super(inner);
    this.#restorer = new StreamRestorer(restorer);
  }

  transform(chunk: Buffer): Buffer {
    const events = this.inner.transform(chunk);
    const isOver = this.inner.isWhole || this.inner.state !== 'open';
    if (!isOver && this.#restorer.passes(events)) return events;
    const released = this.#push(events);
    return toBytes(isOver ? [...released, ...this.#restorer.end()] : released);
  }

  end(): Buffer {
    const rest = this.inner.end();
    return toBytes([...this.#push(rest), ...this.#restorer.end()]);
  }

  #push(events: Buffer): readonly RestoredEvent<RawEvent>[] {
    if (events.length === 0) return [];
    let released: RestoredEvent<RawEvent>[] | undefined;
    for (let start = 0; start < events.length; ) {
      const end = endOfEvent(events, start);
      const found = this.#restorer.push(readEvent(events.subarray(start, end)));
      if (released === undefined) released = [...found];
      else released.push(...found);
      start = end;
    }
    return released ?? [];
  }
}

/** Behind the blank line with which the event ends, or the end of the bytes. */
function endOfEvent(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(lineFeed, start); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    const next = bytes[at + 1];
    if (next === lineFeed) return at + 2;
    if (next === carriageReturn && bytes[at + 2] === lineFeed) return at + 3;
  }
  return bytes.length;
}

function readEvent(bytes: Buffer): RawEvent {
  let data: Buffer = nothing;
  let name: string | undefined;
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(lineFeed, start);
    const next = feed < 0 ? bytes.length : feed + 1;
    const end = feed > start && bytes[feed - 1] === carriageReturn ? feed - 1 : Math.max(start, feed);
    const line = bytes.subarray(start, feed < 0 ? bytes.length : end);
    if (startsWith(line, dataField)) {
      if (data.length > 0) return readLines(bytes);
      data = textAfter(line, dataField);
    } else if (startsWith(line, eventField)) name = textAfter(line, eventField).toString();
    start = next;
  }
  return { bytes, name, data };
}

function startsWith(line: Buffer, field: Buffer): boolean {
  return line.length >= field.length && line.compare(field, 0, field.length, 0, field.length) === 0;
}

function textAfter(line: Buffer, { length }: Buffer): Buffer {
  return line.subarray(line[length] === space ? length + 1 : length);
}

/** An event whose data has several lines. */
function readLines(bytes: Buffer): RawEvent {
  let event: RawEvent = { bytes, name: undefined, data: nothing };
  const parser = new SseParser((name, data) => {
    event = { bytes, name, data: Buffer.from(data) };
  });
  parser.push(bytes);
  parser.end();
  return event;
}

function toBytes(released: readonly RestoredEvent<RawEvent>[]): Buffer {
  const [first] = released;
  if (first === undefined) return nothing;
  const parts = released.map(({ event, data }) =>
    data === undefined ? event.bytes : Buffer.from(formatSse(event.name, data.toString())),
  );
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}
