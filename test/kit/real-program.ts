import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { untilListening } from './ports.ts';
import { closeAtEnd } from './started.ts';

/** Where programs are; servers are in no user's PATH. */
const programPath = `${process.env.PATH}:/usr/sbin`;

/** Whether a program is installed. In CI each is: a test whose program is missing there fails. */
export function isInstalled(program: string): boolean {
  if (process.env.CI !== undefined) return true;
  return programPath.split(':').some((directory) => existsSync(join(directory, program)));
}

/** Starts a program that is asked for by the port on which it listens, until the end of the file. */
export async function startRealProgram(
  [program = '', ...argv]: readonly string[],
  port: number,
  options: SpawnOptions = {},
): Promise<void> {
  const env = { ...process.env, PATH: programPath };
  const child: ChildProcess = spawn(program, argv, { stdio: 'ignore', env, ...options });
  const ended = once(child, 'exit');
  closeAtEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await untilListening(port);
}
