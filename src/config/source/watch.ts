import { statSync } from 'node:fs';

/** Asking also finds what events miss: a directory that was moved, a link's target elsewhere, network file systems. */
const pollMs = 150;

/**
 * Calls back some moments after what a path leads to was written, replaced, removed or put back. The path counts,
 * not the file, because a replaced file is another one. Returns the function that ends it.
 */
export function watchFile(path: string, onChange: () => void): () => void {
  let reported = identityOf(path);
  let seen = reported;
  const check = () => {
    const now = identityOf(path);
    // Editors write in several steps, and replace files by renaming: a change is over once it is still there the next time.
    const isSettled = now === seen;
    seen = now;
    if (!isSettled || now === reported) return;
    reported = now;
    onChange();
  };
  const poll = setInterval(check, pollMs).unref();
  return () => clearInterval(poll);
}

function identityOf(path: string): string {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code); // what stat throws
  }
}
