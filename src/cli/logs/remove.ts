import { constants, readSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Command } from 'commander';
import { GatewayError } from '../../errors.ts';
import { earlierFiles } from '../../record/daily-file.ts';
import { isMissing, parseRecord } from '../../record/read-records.ts';
import { withUserHistory } from '../history/open-history.ts';
import { type CommonOptions, commonOptions, createCommand, durationArgument } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { note } from '../shell/print/print.ts';
import { recordsFile } from '../shell/running-configuration.ts';
import { findConversation, findRecord, notFound, shownId } from './show.ts';

interface RemoveOptions extends CommonOptions {
  readonly all?: true;
  /** Milliseconds back from now. */
  readonly before?: number;
  readonly exchanges?: true;
}

export function buildRemove(io: Io): Command {
  return createCommand({
    name: 'rm',
    summary: 'delete saved conversations, or records of exchanges',
    examples: ['gateway logs rm c7', 'gateway logs rm req_8f2c', 'gateway logs rm --exchanges --before 4w'],
  })
    .argument('[id]', 'id or name of a conversation, or id of a request')
    .option('--before <duration>', 'all that are older than this: 24h, 7d, 4w', durationArgument)
    .option('--all', 'all of them')
    .option('--exchanges', 'with --before or --all: records of exchanges instead of conversations')
    .action(async (wanted: string | undefined, _options: unknown, command: Command) => {
      const options = commonOptions(command) as RemoveOptions;
      const given = [wanted, options.before, options.all].filter((each) => each !== undefined);
      if (given.length !== 1 || (wanted !== undefined && options.exchanges === true)) {
        throw new GatewayError(
          'usage.invalid',
          'name what to delete: an id, a name, --before or --all; --exchanges goes with the last two only',
        );
      }
      const isExchange = options.exchanges === true || wanted?.startsWith('req_') === true;
      const count = await (isExchange ? removeExchanges : removeConversations)(wanted, options, io);
      if (options.quiet === true) return;
      const noun = isExchange ? 'record' : 'conversation';
      const after = isExchange ? `; the ledger keeps what ${count === 1 ? 'it' : 'they'} cost` : '';
      await note(`deleted ${count === 1 ? `a ${noun}` : `${count} ${noun}s`}${after}\n`, io);
    });
}

async function removeExchanges(
  requestId: string | undefined,
  options: RemoveOptions,
  io: Io,
): Promise<number> {
  const beforeTime = new Date(Date.now() - (options.before ?? 0)).toISOString();
  const isAll = options.all === true;
  const file = await recordsFile(options, io);
  const whole = requestId === undefined ? undefined : (await findRecord(file, requestId))?.request_id;
  const { count, isUnfinishedLeft } = await removeRecords(file, ({ request_id: id, time }) =>
    requestId === undefined
      ? isAll || (time !== undefined && time < beforeTime)
      : id === (whole ?? requestId),
  );
  if (isUnfinishedLeft) {
    const problem = `the last line of ${file} is incomplete and was left as it is: it may contain part of a record`;
    await note(`gateway: ${problem}; try again when another record has been written\n`, io);
  } else if (requestId !== undefined && count === 0) throw await noRecord(requestId, io);
  return count;
}

/** The prompt may also be in a conversation, which is deleted as a whole. */
async function noRecord(requestId: string, io: Io): Promise<GatewayError> {
  return withUserHistory(io.env, async (history) => {
    const conversation = history && findConversation(history, requestId);
    if (conversation === undefined) return notFound(requestId);
    const id = shownId(conversation);
    const message = `there is no record of ${requestId}, but it is part of the conversation ${id}`;
    return new GatewayError('log.unknown', `${message}: gateway logs rm ${id}`);
  });
}

async function removeConversations(
  wanted: string | undefined,
  { all, before = 0 }: RemoveOptions,
  io: Io,
): Promise<number> {
  return withUserHistory(io.env, async (history) => {
    const found = wanted === undefined ? undefined : history && findConversation(history, wanted);
    if (wanted !== undefined && found === undefined) throw notFound(wanted);
    const beforeMs = all === true ? Number.MAX_SAFE_INTEGER : Date.now() - before;
    return history?.remove(found === undefined ? { beforeMs } : { id: found.id }) ?? 0;
  });
}

const chunkBytes = 1024 * 1024;
const lineEnd = 0x0a;
const maxScans = 5;

/** What is known about a record; empty if a full disk cut it off before that. */
interface RecordHead {
  readonly time?: string;
  readonly request_id?: string;
}

interface Removed {
  /** Records and their truncated copies. */
  readonly count: number;
  /** Whether the last line of the file is incomplete and was left as it is: the rest may still be written. */
  readonly isUnfinishedLeft: boolean;
}

/**
 * Overwrites records with spaces. The file keeps its length and its inode, because running gateways keep appending to
 * it: a shorter copy in its place would lose what they write.
 */
export async function removeRecords(file: string, isWanted: (head: RecordHead) => boolean): Promise<Removed> {
  const removed = await removeFrom(file, isWanted);
  let { count } = removed;
  for (const earlier of earlierFiles(file)) count += (await removeFrom(earlier, isWanted)).count;
  return { ...removed, count };
}

async function removeFrom(file: string, isWanted: (head: RecordHead) => boolean): Promise<Removed> {
  let count = 0;
  try {
    const handle = await openRegular(file);
    if (handle === undefined) return { count, isUnfinishedLeft: false };
    const { atime, mtime } = await handle.stat();
    try {
      for (let scans = 0; scans < maxScans; scans += 1) {
        const scan = await removeOnce(handle, isWanted);
        count += scan.count;
        if (scan.isSame) return { count, isUnfinishedLeft: scan.isUnfinishedLeft };
      }
    } finally {
      if (count > 0) await handle.utimes(atime, mtime); // a file goes by when it was written last
      await handle.close();
    }
  } catch (cause) {
    throw unchangeable(file, cause);
  }
  throw new GatewayError(
    'config.invalid',
    `the file of records ${file} is being rotated: run the command again`,
  );
}

async function openRegular(file: string): Promise<FileHandle | undefined> {
  const handle = await open(file, constants.O_RDWR | constants.O_NOFOLLOW).catch((cause) => {
    if (isMissing(cause)) return undefined;
    throw cause;
  });
  if (handle === undefined || (await handle.stat()).isFile()) return handle;
  await handle.close();
  throw Object.assign(new Error('not a regular file'), { code: 'ENOTSUP' });
}

interface Scan extends Removed {
  /** Whether the records were still where they had been read. */
  readonly isSame: boolean;
}

async function removeOnce(handle: FileHandle, isWanted: (head: RecordHead) => boolean): Promise<Scan> {
  let count = 0;
  let isSame = true;
  let isUnfinishedLeft = false;
  for await (const { start, line, hasLineEnd } of linesOf(handle)) {
    for (const { from, to, head } of piecesOf(line)) {
      if (!isWanted(head)) continue;
      if (!hasLineEnd) isUnfinishedLeft = true;
      else if (blank(handle.fd, start + from, line.subarray(from, to))) count += 1;
      else isSame = false;
    }
  }
  await handle.datasync();
  return { count, isSame, isUnfinishedLeft };
}

/**
 * Overwrites bytes if they are still there: a rotation may have truncated the file since, and other records may be in
 * their place. Synchronous, so that next to nothing can happen in between.
 */
function blank(descriptor: number, position: number, expected: Buffer): boolean {
  const present = Buffer.alloc(expected.length);
  for (let done = 0; done < present.length; ) {
    const read = readSync(descriptor, present, done, present.length - done, position + done);
    if (read === 0) return false;
    done += read;
  }
  if (!present.equals(expected)) return false;
  present.fill(' ');
  for (let done = 0; done < present.length; ) {
    done += writeSync(descriptor, present, done, present.length - done, position + done);
  }
  return true;
}

interface FilePiece {
  readonly from: number;
  readonly to: number;
  readonly head: RecordHead;
}

// In a record's texts quotes are escaped, so that this is always the beginning of one.
const heads = /\{"time":"([^"\\]*)","request_id":"([^"\\]*)"/g;

/** The records of a line: one, or several, all but the last truncated by a full disk or a crash. */
function piecesOf(line: Buffer): readonly FilePiece[] {
  const record = parseRecord(line);
  if (record !== undefined) return [{ from: 0, to: line.length, head: record }];
  const text = line.toString('latin1');
  if (text.trim() === '') return [];
  const found = [...text.matchAll(heads)].map(({ index, 1: time = '', 2: id = '' }) => ({
    from: index,
    head: { time, request_id: id } as RecordHead,
  }));
  const starts = (found[0]?.from ?? line.length) > 0 ? [{ from: 0, head: {} }, ...found] : found;
  return starts.map(({ from, head }, i) => ({ from, to: starts[i + 1]?.from ?? line.length, head }));
}

interface Line {
  /** Its position in the file. */
  readonly start: number;
  readonly line: Buffer;
  /** Whether it is complete. */
  readonly hasLineEnd: boolean;
}

async function* linesOf(handle: FileHandle): AsyncGenerator<Line> {
  let start = 0;
  let pieces: Buffer[] = [];
  for (let position = 0; ; ) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    let from = 0;
    for (let end = chunk.indexOf(lineEnd); end >= 0 && end < bytesRead; end = chunk.indexOf(lineEnd, from)) {
      const line = Buffer.concat([...pieces, chunk.subarray(from, end)]);
      pieces = [];
      yield { start, line, hasLineEnd: true };
      from = end + 1;
      start += line.length + 1;
    }
    if (from < bytesRead) pieces.push(chunk.subarray(from, bytesRead));
  }
  if (pieces.length > 0) yield { start, line: Buffer.concat(pieces), hasLineEnd: false };
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'you may not write to it',
  EPERM: 'you may not write to it',
  EROFS: 'its file system is read-only',
  ELOOP: 'it is a symbolic link, which is not followed: name its target in records.file',
  ENOTSUP: 'it is not a regular file',
  EISDIR: 'it is a directory',
};

function unchangeable(file: string, cause: unknown): GatewayError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const reason = reasons[code];
  const message = `the records ${file} can't be changed (${code})${reason === undefined ? '' : `: ${reason}`}`;
  return new GatewayError('config.invalid', message, { cause });
}
