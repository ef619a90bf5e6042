import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
export const bin = join(root, 'bin', 'gateway.js');

/** A build reads the source for a few seconds before it writes anything. */
const longestBuildMs = 30_000;

/** Makes dist/ once before all tests, as `npm run build` does: for the real program, and for its threads. */
export function setup(): void {
  if (!isBuilt()) execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: root });
}

/** Whether nothing that dist/ is made of has changed, come or gone since a build ended. */
function isBuilt(): boolean {
  const lastWritten = join(root, 'dist', 'THIRD-PARTY.txt');
  if (!existsSync(lastWritten)) return false;
  const begunMs = statSync(lastWritten).mtimeMs - longestBuildMs;
  const folders = ['src', 'scripts', 'vendor/swagger-ui'].map((name) => join(root, name));
  const files = folders.flatMap((folder) => [
    folder,
    ...readdirSync(folder, { recursive: !folder.endsWith('scripts'), encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  ]);
  files.push(join(root, 'package.json'), join(root, 'node_modules', '.package-lock.json'));
  return files.every((file) => existsSync(file) && statSync(file).mtimeMs < begunMs);
}
