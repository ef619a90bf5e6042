import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

// Editors write in several steps, and replace files by renaming: one change is told once, when it is over.
const settleMs = 150;

/**
 * Calls back some moments after a file was written or replaced. The directory is watched, not the file,
 * because a replaced file is another one. Gives the function that ends it.
 */
export function watchFile(path: string, onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      if (name !== null && name !== basename(path)) return;
      clearTimeout(timer);
      timer = setTimeout(onChange, settleMs);
    });
    // A file system that can't watch leaves SIGHUP as the way to reload.
    watcher.on('error', () => watcher?.close());
  } catch {
    return () => undefined; // the same
  }
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
