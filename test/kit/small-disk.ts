import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { emptyDirectory } from './own-configuration.ts';

export const canMount = process.getuid?.() === 0;

/** A disk of a size such as `400k` that a test can fill, or make read-only; it is gone when the test is over. */
export function mountDisk(size: string): string {
  const folder = emptyDirectory();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return folder;
}

/** Writes a file `filler` until nothing more fits. */
export function fill(folder: string): void {
  for (let size = 65_536; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) writeFileSync(join(folder, 'filler'), Buffer.alloc(size), { flag: 'a' });
    } catch {
      // full for this size
    }
  }
}
