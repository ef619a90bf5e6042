import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compiledFolder } from '../kit/compiled-source.ts';

export interface StoreProcess {
  readonly url: string;
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>;
}

interface BuiltStore {
  /** Starts the store in a process of its own. */
  start(database: string): Promise<StoreProcess>;
  remove(): void;
}

const program = `
import { startStore } from './plants/store.ts.mjs';
const store = await startStore({ host: '127.0.0.1', port: 0, database: process.argv[2], log: () => {} });
console.log(store.url);
`;

/** The store of this run's compiled source, in a process that a test may kill. */
export function buildStore(): BuiltStore {
  const file = join(compiledFolder(), `run-store-${process.pid}.mjs`);
  writeFileSync(file, program);
  const running = new Set<ChildProcess>();
  return {
    start: async (database) => {
      const child = spawn(process.execPath, [file, database], {
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
      rmSync(file);
    },
  };
}
