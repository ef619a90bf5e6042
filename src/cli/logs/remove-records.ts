import { type FileHandle, open } from 'node:fs/promises';
import type { ExchangeRecord } from '../../record/record.ts';
import { isMissing, parseRecord, unreadable } from './records.ts';

const chunkBytes = 1024 * 1024;
const lineEnd = 0x0a;

/**
 * Overwrites records with blanks and returns how many there were. The file keeps its length and its inode, because
 * gateways that are running go on appending to it: a shorter copy in its place would lose what they write.
 */
export async function removeRecords(
  file: string,
  isWanted: (record: ExchangeRecord) => boolean,
): Promise<number> {
  const handle = await open(file, 'r+').catch((cause) => {
    if (isMissing(cause)) return undefined;
    throw unreadable(file, cause);
  });
  if (handle === undefined) return 0;
  let count = 0;
  try {
    for await (const { start, line } of wholeLines(handle)) {
      const record = parseRecord(line);
      if (record === undefined || !isWanted(record)) continue;
      await handle.write(Buffer.alloc(line.length, ' '), 0, line.length, start);
      count += 1;
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
  return count;
}

interface Line {
  /** Its place in the file. */
  readonly start: number;
  readonly line: Buffer;
}

/** Lines with their end; one that is still being written is left out. */
async function* wholeLines(handle: FileHandle): AsyncGenerator<Line> {
  let start = 0;
  let pieces: Buffer[] = [];
  for (let position = 0; ; ) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    let from = 0;
    for (let end = chunk.indexOf(lineEnd); end >= 0 && end < bytesRead; end = chunk.indexOf(lineEnd, from)) {
      const line = Buffer.concat([...pieces, chunk.subarray(from, end)]);
      pieces = [];
      yield { start, line };
      from = end + 1;
      start += line.length + 1;
    }
    if (from < bytesRead) pieces.push(chunk.subarray(from, bytesRead));
  }
}
