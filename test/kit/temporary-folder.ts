import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Gives a run of the tests, and every program that they start, one folder for all that is temporary, and removes it
 * at the end, with what tests that failed or were interrupted left there. The name is short, since the paths of Unix
 * sockets below it may have 107 bytes at most.
 */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'gw-'));
  chmodSync(folder, 0o711); // PostgreSQL doesn't run as root, but as a user of its own
  process.env.TMPDIR = folder;
  return () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    } catch {
      // A program that is just ending may still write there; the system removes the rest.
    }
  };
}
