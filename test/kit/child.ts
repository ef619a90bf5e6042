import { type ChildProcess, spawn } from 'node:child_process';
import { heapFlags } from '../../src/server/workers/spawn-worker.ts';
import { bin } from './build.ts';
import { ownConfiguration } from './own-configuration.ts';

export interface Child {
  readonly process: ChildProcess;
  readonly ended: Promise<{ exit: number | null; signal: string | null; stdout: string; stderr: string }>;
  wrote(text: string): Promise<void>;
  /** What it wrote so far. */
  text(stream: 'stdout' | 'stderr'): string;
}

const running = new Set<ChildProcess>();

/** Ends what a test file started and left running; every file does so at its end (leftovers.ts). */
export function endPrograms(): void {
  for (const child of running) child.kill('SIGKILL');
}

// It must be in its group before Node starts, which asks how much memory there is.
const inGroup = ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"'] as const;

/** The real program in an empty home, its streams being pipes; in a control group, if one is named, as the image starts it. */
export function startProgram(
  argv: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
  group?: string,
): Child {
  const node =
    group === undefined ? [process.execPath] : [...inGroup, group, process.execPath, ...heapFlags({})];
  const command = [...node, bin, ...argv];
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, ...ownConfiguration(home), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.add(child);
  child.on('exit', () => running.delete(child));
  const text = { stdout: '', stderr: '' };
  let look: () => void = () => undefined;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
      look();
    });
  }
  return {
    process: child,
    text: (stream) => text[stream],
    ended: new Promise((resolve) => child.on('close', (exit, signal) => resolve({ exit, signal, ...text }))),
    wrote: (wanted) =>
      new Promise((resolve, reject) => {
        look = () => {
          if ((text.stdout + text.stderr).includes(wanted)) resolve();
        };
        child.on('close', () => reject(new Error(`ended before it wrote ${wanted}: ${text.stderr}`)));
        look();
      }),
  };
}
