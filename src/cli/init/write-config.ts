import { linkSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { trustFile } from '../../client/trusted-files.ts';
import { realPathOf } from '../../config/trust/real-path.ts';
import { GatewayError } from '../../errors.ts';
import type { Io } from '../shell/io.ts';
import { inspectValidConfig } from '../shell/load-config.ts';

export function isThere(file: string): boolean {
  try {
    return lstatSync(file) !== undefined;
  } catch {
    return false; // whatever the reason, writing will report it
  }
}

interface Writing {
  readonly mayReplace: boolean;
  readonly io: Io;
}

/** Writes a configuration that only this user can read, after validating it. Throws output.failed. */
export async function writeConfig(file: string, text: string, { mayReplace, io }: Writing): Promise<void> {
  const draft = `${file}.${process.pid}.new.yaml`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    const { wants } = await inspectValidConfig({ config: draft }, io);
    // Unlike a rename, a link fails if somebody has created the file meanwhile.
    if (mayReplace) renameSync(draft, file);
    else linkSync(draft, file);
    if (wants.length > 0) trustFile(io.env, realPathOf(file), wants);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const { code = '', message } = cause as NodeJS.ErrnoException; // of the file system
    throw new GatewayError('output.failed', `${file} can't be written: ${code || message}`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
}
