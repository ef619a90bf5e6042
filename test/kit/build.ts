import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
export const bin = join(root, 'bin', 'gateway.js');

/** Makes dist/ as `npm run build` does, for the tests that start the real program. */
export function buildProgram(): void {
  execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: root });
}
