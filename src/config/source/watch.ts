import { type FSWatcher, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';

// Editors write in several steps, and replace files by renaming: one change is reported once, when it is over.
const settleMs = 150;
/** Finds what the system doesn't report: a directory that was moved, a link's target elsewhere, network file systems. */
const pollMs = 2_000;

/**
 * Calls back some moments after what a path leads to was written, replaced, removed or put back. The path counts,
 * not the file, because a replaced file is another one. Returns the function that ends it.
 */
export function watchFile(path: string, onChange: () => void): () => void {
  let reported = identityOf(path);
  let seen = reported;
  let timer: NodeJS.Timeout | undefined;
  // Events of neighbours in the directory must not put off the report: only a change of the file restarts the wait.
  const check = () => {
    const now = identityOf(path);
    if (now === seen) return;
    seen = now;
    clearTimeout(timer);
    timer = setTimeout(report, settleMs);
  };
  const report = () => {
    const settled = seen;
    check();
    if (seen !== settled || seen === reported) return;
    reported = seen;
    onChange();
  };
  const watcher = watchDirectory(dirname(path), check);
  const poll = setInterval(check, pollMs).unref();
  return () => {
    clearTimeout(timer);
    clearInterval(poll);
    watcher?.close();
  };
}

function watchDirectory(directory: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, onEvent);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined; // a file system that can't watch: polling finds changes too
  }
}

function identityOf(path: string): string {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code); // what stat throws
  }
}
