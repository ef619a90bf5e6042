import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects this thread's garbage, which V8 does only while a program allocates. Node's own way from within: the function is
 * there in contexts that are made after the flag is set. The pages that one collection empties go back to the system with
 * the next.
 *
 * The flag is the whole process's: another thread that collects at the same moment may have taken it back, and then
 * nothing is collected this time.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('globalThis.gc?.()');
  setFlagsFromString('--no-expose-gc');
}
