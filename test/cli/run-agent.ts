import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startProgram } from '../kit/child.ts';
import { command, homeWith, withoutStore } from '../kit/command.ts';
import type { Files } from '../kit/own-configuration.ts';

interface Options {
  /** What is run; `claude` where nothing is said. */
  readonly argv?: readonly string[];
  /** A shell script in each agent's place. */
  readonly script?: string;
  readonly yaml?: string;
  /** Other files in the home. */
  readonly files?: Files;
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
}

const claude = ['run', 'claude'];

const noRequest = /gateway: no request of this run reached the gateway: [^\n]*\n/;

/**
 * Runs a command in this process. `stdout` is what the agent wrote, or the command if it started none; `stderr` is without
 * the line that no request arrived, which is `isMissed`.
 */
export async function run(options: Options) {
  const { home, env } = prepare(options, '"$(dirname "$0")/written"');
  const { isTerminal = false } = options;
  const ended = await command(options.argv ?? claude, { cwd: home, env, isTerminal });
  return Object.assign(ended, {
    stdout: ended.stdout + readFileSync(join(home, 'written'), 'utf8'),
    stderr: ended.stderr.replace(noRequest, ''),
    ...(noRequest.test(ended.stderr) && { isMissed: true }),
  });
}

/** The same by the program, with streams and signals of its own. */
export function startRun(options: Options): Child & { readonly home: string } {
  const { home, env } = prepare(options, '&1');
  return Object.assign(startProgram(options.argv ?? claude, home, env), { home });
}

function prepare({ script = 'echo started', yaml = '', files = {}, env = {} }: Options, output: string) {
  const agents = ['claude', 'codex', 'opencode', 'gemini'];
  const home = homeWith({
    ...(yaml === '' ? {} : { 'gateway.yaml': `${yaml}\n${withoutStore}` }),
    written: '',
    ...Object.fromEntries(agents.map((name) => [name, `#!/bin/sh\nexec >${output}\n${script}\n`])),
    ...files,
  });
  for (const name of agents) chmodSync(join(home, name), 0o755);
  return { home, env: { PATH: `${home}:${process.env.PATH}`, ...env } };
}
