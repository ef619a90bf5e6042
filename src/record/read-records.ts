import type { Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { isFields } from '../dialects/fields.ts';
import { GatewayError } from '../errors.ts';
import type { ExchangeRecord } from './record.ts';

const chunkBytes = 1024 * 1024;
const lineEnd = 0x0a;
const pollMs = 200;

/** The records of a file, newest first; none if the file is missing. Anything that is not a record is skipped. */
export async function* recordsBackwards(
  file: string,
  findLines: (block: Buffer) => Iterable<Buffer> = linesFromEnd,
): AsyncGenerator<ExchangeRecord> {
  const handle = await open(file).catch((cause) => {
    if (isMissing(cause)) return undefined;
    throw unreadable(file, cause);
  });
  if (handle === undefined) return;
  try {
    for await (const block of blocksBackwards(handle)) {
      for (const line of findLines(block)) {
        const record = parseRecord(line);
        if (record !== undefined) yield record;
      }
    }
  } finally {
    await handle.close();
  }
}

/** For `recordsBackwards`: only the lines that hold one of the texts, in any case of its letters. */
export function linesWith(texts: readonly string[]): (block: Buffer) => Iterable<Buffer> {
  // Searched as one text, because searching each line alone takes three times as long; and as bytes if upper and lower
  // case differ in ASCII only, because decoding takes twice as long as searching.
  const encoding = texts.every((text) => /^[\x20-\x7e]*$/.test(text)) ? 'latin1' : 'utf8';
  const pattern = new RegExp(
    texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'),
    'gi',
  );
  return (block) => {
    const text = block.toString(encoding);
    const lines: Buffer[] = [];
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const end = text.indexOf('\n', match.index);
      lines.push(Buffer.from(text.slice(text.lastIndexOf('\n', match.index) + 1, end), encoding));
      pattern.lastIndex = end;
    }
    return lines.reverse();
  };
}

function* linesFromEnd(block: Buffer): Generator<Buffer> {
  for (let end = block.length - 1; end >= 0; ) {
    const start = end === 0 ? 0 : block.lastIndexOf(lineEnd, end - 1) + 1;
    yield block.subarray(start, end);
    end = start - 1;
  }
}

/**
 * A file in pieces of whole lines, the last piece first. A line that is still being written is left out. A piece is
 * only valid until the next one is requested: reusing the memory saves a third of the time.
 */
async function* blocksBackwards(handle: FileHandle): AsyncGenerator<Buffer> {
  let { size: position } = await handle.stat();
  /** The end of a line whose beginning is in the previous piece. */
  let rest: Buffer = Buffer.alloc(0);
  let hasEnd = false;
  let [memory, other] = [Buffer.alloc(0), Buffer.alloc(0)];
  while (position > 0) {
    const length = Math.min(chunkBytes, position);
    position -= length;
    const needed = length + rest.length;
    // The rest is in the other piece.
    if (memory.length < needed) memory = Buffer.allocUnsafe(needed + chunkBytes);
    await handle.read(memory, 0, length, position);
    rest.copy(memory, length);
    const whole: Buffer = memory.subarray(0, needed);
    const end: number = hasEnd ? whole.length : whole.lastIndexOf(lineEnd) + 1;
    hasEnd ||= end > 0;
    const start = position === 0 ? 0 : whole.indexOf(lineEnd) + 1;
    if (start < end) yield whole.subarray(start, end);
    rest = whole.subarray(0, Math.min(start, end));
    [memory, other] = [other, memory];
  }
}

/** Records as they are appended from now on, even if the file is recreated, until the signal fires. */
export async function followRecords(
  file: string,
  signal: AbortSignal,
): Promise<AsyncIterable<ExchangeRecord>> {
  return recordsFrom(file, await statOf(file), signal);
}

async function* recordsFrom(
  file: string,
  from: Stats | undefined,
  signal: AbortSignal,
): AsyncGenerator<ExchangeRecord> {
  let position = from?.size ?? 0;
  let known = from?.ino;
  let rest = Buffer.alloc(0);
  while (!signal.aborted) {
    const stats = await statOf(file);
    if (stats !== undefined && (stats.ino !== known || stats.size < position)) {
      position = 0;
      rest = Buffer.alloc(0);
    }
    known = stats?.ino;
    while (stats !== undefined && position < stats.size) {
      const bytes = await readAt(file, position, Math.min(chunkBytes, stats.size - position));
      if (bytes.length === 0) break;
      position += bytes.length;
      const text = Buffer.concat([rest, bytes]);
      const end = text.lastIndexOf(lineEnd) + 1;
      rest = text.subarray(end);
      for (const line of text.toString('utf8', 0, end).split('\n')) {
        const record = parseRecord(line);
        if (record !== undefined) yield record;
      }
    }
    await setTimeout(pollMs, undefined, { signal }).catch(() => undefined); // aborted: the loop ends
  }
}

/** Undefined for a line that is none, was cut short, or has a field of another form than this version writes. */
export function parseRecord(line: Buffer | string): ExchangeRecord | undefined {
  try {
    const value: unknown = JSON.parse(line.toString());
    if (!isFields(value) || value.request_id === undefined || value.time === undefined) return undefined;
    const isRecord = Object.entries(forms).every(([name, isRight]) => {
      return value[name] === undefined || isRight(value[name]);
    });
    return isRecord ? (value as unknown as ExchangeRecord) : undefined; // its fields are of the right form
  } catch {
    return undefined; // truncated, for example because the disk was full
  }
}

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const isListOf = (isRight: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isRight);

/** Of the fields whose form is relied on where records are shown or summed up. */
const forms: Partial<Record<keyof ExchangeRecord, (value: unknown) => boolean>> = {
  ...{ time: isText, request_id: isText, method: isText, path: isText, endpoint: isText, project: isText },
  ...{ key: isText, model: isText, provider: isText, target_model: isText, outcome: isText, reason: isText },
  ...{ decision: isText, cause: isText, status: isNumber, bytes_in: isNumber, bytes_out: isNumber },
  ...{
    agent: isText,
    session: isText,
    subagent: isText,
    parent: isText,
    request_class: isText,
    prompt: isText,
  },
  ...{ total_ms: isNumber, first_byte_ms: isNumber, cost_usd: isNumber, usage: isFields },
  ...{ rules: isListOf(isFields), would_block: isListOf(isText), dropped: isListOf(isText) },
};

/** Undefined for a file that is not there yet, or not any more. */
function statOf(file: string): Promise<Stats | undefined> {
  return stat(file).catch(() => undefined);
}

async function readAt(file: string, position: number, length: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

export function isMissing(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}

function unreadable(file: string, cause: unknown): GatewayError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return new GatewayError('config.invalid', `the records ${file} can't be read (${code})`, { cause });
}
