import { readSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { makeDirectory } from '../../../directories.ts';
import { header } from './journal-line.ts';
import { segmentPath } from './segments.ts';

/** The segment that a process appends to. */
export interface OpenSegment {
  readonly path: string;
  readonly handle: FileHandle;
  readonly inode: number;
  readonly sinceMs: number;
  bytes: number;
  lines: number;
}

/** A new file, of which the disk knows. Throws what the system throws, and leaves nothing behind then. */
export async function makeSegment(directory: string, owner: string, number: number): Promise<OpenSegment> {
  makeDirectory(directory);
  const path = segmentPath(directory, owner, number);
  const handle = await open(path, 'ax+', 0o600);
  try {
    await handle.appendFile(header);
    await handle.datasync();
    const folder = await open(directory);
    await folder.sync().finally(() => folder.close());
    const { ino } = await handle.stat();
    return { path, handle, inode: ino, sinceMs: Date.now(), bytes: header.length, lines: 0 };
  } catch (cause) {
    await handle.close();
    await rm(path, { force: true });
    throw cause;
  }
}

/** Its lines, also after its file was removed. */
export function readLines({ handle, bytes }: OpenSegment): string {
  const text = Buffer.alloc(bytes - header.length);
  readSync(handle.fd, text, 0, text.length, header.length);
  return text.toString();
}
