import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects this thread's garbage, or only young objects, which V8 does only while a program allocates. Node's own way from
 * within: the function exists in contexts that are made after the flag is set. The pages that a full collection empties go
 * back to the system with the next one.
 *
 * The flag is the whole process's: another thread that collects at the same moment may have taken it back, and then
 * nothing is collected this time.
 */
export function collectGarbage(which: 'all' | 'young' = 'all'): void {
  setFlagsFromString('--expose-gc');
  runInNewContext(which === 'all' ? 'globalThis.gc?.()' : "globalThis.gc?.({ type: 'minor' })");
  setFlagsFromString('--no-expose-gc');
}
