import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { GatewayError } from '../errors.ts';
import { makeDirectory } from '../make-directory.ts';

/** How every record begins. */
const beginning = /^\{"time":"[^"]{20,40}","request_id":"/;
const beginningBytes = 96;

/**
 * Opens a file to append records to, readable by its owner only, and creates it if needed. Whatever else it might be
 * is refused: a link or a device may lead anywhere, and a line added to another program's file may mean anything to it.
 * Throws config.invalid, and what the system throws.
 */
export function openOwnFile(path: string): number {
  // Neither followed nor waited for: a pipe without a reader, or a terminal.
  const flags =
    constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  makeDirectory(dirname(resolve(path)));
  const descriptor = openFile(path, flags);
  const reason = refusal(descriptor);
  if (reason === undefined) return descriptor;
  closeSync(descriptor);
  throw refused(path, reason);
}

function openFile(path: string, flags: number): number {
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what open throws
    if (code === 'ELOOP') throw refused(path, 'it is a symbolic link');
    if (code === 'ENXIO') throw refused(path, 'it is no regular file');
    throw error;
  }
}

function refusal(descriptor: number): string | undefined {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) return 'it is no regular file';
  if (stats.nlink > 1) return 'it has other names (hard links)';
  const bytes = Buffer.alloc(beginningBytes);
  const text = bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, beginningBytes, 0));
  return text === '' || beginning.test(text) ? undefined : 'its first line is no record of the gateway';
}

function refused(path: string, reason: string): GatewayError {
  return new GatewayError(
    'config.invalid',
    `no records are written to ${path}: ${reason}; name another file in records.file`,
  );
}
