import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

const root = join(import.meta.dirname, '..', '..');
export const bin = join(root, 'bin', 'gateway.js');

/** Makes dist/ before all tests, unless it is there: for the real program, and for its threads. */
export function setup(project: TestProject): void {
  const build = () =>
    void execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: root });
  build();
  project.onTestsRerun(async () => build());
}
