import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { isFields } from '../dialects/fields.ts';
import { GatewayError } from '../errors.ts';
import { earlierFiles, fileId } from './daily-file.ts';
import type { ExchangeRecord } from './record.ts';

const chunkBytes = 1024 * 1024;
const lineEnd = 0x0a;
const pollMs = 200;

/**
 * The records of a file and of those of earlier days, newest first; none if there are none. Anything that is not a record is
 * skipped, and with `untilMs` files that began long after that time.
 */
export async function* recordsBackwards(
  file: string,
  findLines: (block: Buffer) => Iterable<Buffer> = linesFromEnd,
  untilMs = Number.POSITIVE_INFINITY,
): AsyncGenerator<ExchangeRecord> {
  for await (const handle of openFiles(file)) {
    if ((await beganMs(handle)) > untilMs + longestMs) continue;
    for await (const block of blocksBackwards(handle)) {
      for (const line of findLines(block)) {
        const record = parseRecord(line);
        if (record !== undefined) yield record;
      }
    }
  }
}

/** No exchange takes longer. */
const longestMs = 86_400_000;
const firstBytes = 96;

/** When a file's first exchange began; NaN if that is unknown. */
async function beganMs(handle: FileHandle): Promise<number> {
  const { buffer } = await handle.read(Buffer.alloc(firstBytes), 0, firstBytes, 0);
  return Date.parse(/"time":"([^"]*)"/.exec(buffer.toString('latin1'))?.[1] ?? '');
}

/** Each once, even if it is put aside meanwhile, the latest first; closed when the next one is requested. */
async function* openFiles(file: string): AsyncGenerator<FileHandle> {
  const known = new Set<string>();
  yield* opened(file, known);
  for (const path of earlierFiles(file)) yield* opened(path, known);
}

async function* opened(path: string, known: Set<string>): AsyncGenerator<FileHandle> {
  const handle = await openIfThere(path);
  if (handle === undefined) return;
  try {
    const id = fileId(await handle.stat());
    if (!known.has(id)) yield handle;
    known.add(id);
  } finally {
    await handle.close();
  }
}

function openIfThere(path: string): Promise<FileHandle | undefined> {
  return open(path).catch((cause) => {
    if (isMissing(cause)) return undefined;
    throw unreadable(path, cause);
  });
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

/** Records as they are appended from now on, even if the file is recreated or put aside, until the signal fires. */
export async function followRecords(
  file: string,
  signal: AbortSignal,
): Promise<AsyncIterable<ExchangeRecord>> {
  const handle = await openIfThere(file);
  return recordsFrom(file, handle && { handle, position: (await handle.stat()).size }, signal);
}

interface Followed {
  readonly handle: FileHandle;
  readonly position: number;
}

async function* recordsFrom(
  file: string,
  from: Followed | undefined,
  signal: AbortSignal,
): AsyncGenerator<ExchangeRecord> {
  let { handle, position = 0 } = from ?? {};
  let rest = Buffer.alloc(0);
  // A file that is put aside is read once more: other processes may have written to it for a moment.
  let isPutAside = false;
  try {
    while (!signal.aborted) {
      const { size = 0, id } = await stateOf(handle);
      if (size < position) {
        position = 0;
        rest = Buffer.alloc(0);
      }
      while (handle !== undefined && position < size) {
        const { buffer, bytesRead } = await handle.read(
          Buffer.alloc(Math.min(chunkBytes, size - position)),
          0,
          Math.min(chunkBytes, size - position),
          position,
        );
        if (bytesRead === 0) break;
        position += bytesRead;
        const text = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = text.lastIndexOf(lineEnd) + 1;
        rest = text.subarray(end);
        for (const line of text.toString('utf8', 0, end).split('\n')) {
          const record = parseRecord(line);
          if (record !== undefined) yield record;
        }
      }
      const now = await stat(file).catch(() => undefined); // not there yet, or not any more
      const isOther = now !== undefined && fileId(now) !== id;
      if (isOther && (handle === undefined || isPutAside)) {
        await handle?.close();
        handle = await openIfThere(file);
        position = 0;
        rest = Buffer.alloc(0);
        isPutAside = false;
        continue;
      }
      isPutAside = isOther;
      await setTimeout(pollMs, undefined, { signal }).catch(() => undefined); // aborted: the loop ends
    }
  } finally {
    await handle?.close();
  }
}

async function stateOf(handle: FileHandle | undefined) {
  const stats = await handle?.stat();
  return { size: stats?.size, id: fileId(stats) };
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

export function isMissing(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}

function unreadable(file: string, cause: unknown): GatewayError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return new GatewayError('config.invalid', `the records ${file} can't be read (${code})`, { cause });
}
