import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface StoreProcess {
  readonly url: string;
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>;
}

export interface BuiltStore {
  /** Starts the store in a process of its own. */
  start(database: string): Promise<StoreProcess>;
  remove(): void;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

const program = `
import { startStore } from './plants/store.js';
const store = await startStore({ host: '127.0.0.1', port: 0, database: process.argv[2], log: () => {} });
console.log(store.url);
`;

/**
 * Compiles src/ into a directory of its own, as Node 20 can't run TypeScript and dist/ may be of
 * yesterday, so that a store can run in a process that a test may kill.
 */
export function buildStore(): BuiltStore {
  const directory = mkdtempSync(join(tmpdir(), 'plants-built-'));
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  );
  const config = join(root, 'tsconfig.build.json');
  execFileSync(process.execPath, [compiler, '-p', config, '--outDir', directory], { stdio: 'pipe' });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(join(directory, 'run-store.mjs'), program);
  const running = new Set<ChildProcess>();
  return {
    start: async (database) => {
      const child = spawn(process.execPath, [join(directory, 'run-store.mjs'), database], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running.add(child);
      let said = '';
      child.stderr.on('data', (text: Buffer) => {
        said += text;
      });
      const exited = once(child, 'exit').then(() => running.delete(child));
      const line = once(createInterface({ input: child.stdout }), 'line').then(([url]) => String(url));
      const url = await Promise.race([line, exited.then(() => undefined)]);
      if (url === undefined) throw new Error(`the store did not start: ${said}`);
      return {
        url,
        kill: async () => {
          child.kill('SIGKILL');
          await exited;
        },
      };
    },
    remove: () => {
      for (const child of running) child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
