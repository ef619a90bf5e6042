import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { expect } from 'vitest';
import { bin } from '../../kit/build.ts';
import type { Invocation } from './invocations.ts';
import type { Person, Place } from './workspace.ts';

export interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface How {
  readonly env: Readonly<Record<string, string>>;
  /** Bytes for standard input, or `closed`; by default those of the invocation. */
  readonly stdin?: Buffer | 'closed' | undefined;
  readonly user?: Person | undefined;
}

const patienceMs = 60_000;

/** Runs a command to its end in a place; one that serves is stopped when it is ready. */
export async function runCall(call: Invocation, { work }: Place, { env, stdin, user }: How): Promise<Ended> {
  const bytes = stdin ?? (call.stdin === undefined ? undefined : Buffer.from(call.stdin));
  // Only a shell can start a program without standard input.
  const argv = [process.execPath, bin, ...call.words];
  const [file = '', ...rest] = stdin === 'closed' ? ['sh', '-c', 'exec "$0" "$@" <&-', ...argv] : argv;
  const nothing = openSync('/dev/null', 'r');
  const child = spawn(file, rest, {
    cwd: work,
    env,
    ...user,
    stdio: [Buffer.isBuffer(bytes) ? 'pipe' : nothing, 'pipe', 'pipe'],
  });
  closeSync(nothing);
  const text = { stdout: '', stderr: '' };
  let isStopped = false;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
      if (isStopped || call.until?.test(text.stdout + text.stderr) !== true) return;
      isStopped = true;
      child.kill('SIGTERM');
    });
  }
  child.stdin?.on('error', () => undefined).end(bytes); // one that reads nothing may be over before
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  const exit = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearTimeout(timer);
  return { exit, ...text };
}

/** 126 and 127 are of an agent that could not be started. */
const documented = [0, 1, 2, 3, 4, 5, 6, 7, 8, 126, 127, 130, 143];

/** What holds of every command, whatever its environment. */
export function expectDecent({ exit, stdout, stderr }: Ended): void {
  const text = `${stdout}\n${stderr}`;
  expect(text).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  expect(text).not.toMatch(
    /Unhandled|node:internal|the gateway failed|\[object |\bERR_[A-Z]|ExperimentalWarning/,
  );
  expect(documented).toContain(exit);
  if (exit !== 0 && exit !== 143) expect(stderr).toMatch(/^(?:gateway: .{12}|Usage: gateway )/m);
}
