import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
export const bin = join(root, 'bin', 'gateway.js');

/** Makes dist/ before all tests, unless it is there: for the real program, and for its threads. */
export function setup(): void {
  execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: root });
}
