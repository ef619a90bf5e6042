import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Child, startProgram } from '../kit/child.ts';
import { command, emptyDirectory } from '../kit/command.ts';

interface Options {
  readonly argv: readonly string[];
  /** A shell script in each agent's place. */
  readonly script?: string;
  readonly yaml?: string;
  /** Other files in the home: text, or JSON. */
  readonly files?: Readonly<Record<string, string | object>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command in this process. `stdout` is what the agent wrote, or the command if it started none. */
export async function run(options: Options) {
  const { home, env } = prepare(options, (home) => `exec >"${home}/written"\n`);
  const ended = await command(options.argv, { cwd: home, env });
  return { ...ended, home, stdout: ended.stdout + readFileSync(join(home, 'written'), 'utf8') };
}

/** The same by the program, with streams and signals of its own. */
export function startRun(options: Options): Child & { readonly home: string } {
  const { home, env } = prepare(options, () => '');
  return Object.assign(startProgram(options.argv, home, env), { home });
}

function prepare(
  { script = 'echo started', yaml = '', files = {}, env = {} }: Options,
  before: (home: string) => string,
) {
  const home = emptyDirectory();
  const write = (name: string, content: string | object, mode = 0o600) => {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), typeof content === 'string' ? content : JSON.stringify(content), {
      mode,
    });
  };
  if (yaml !== '') write('gateway.yaml', `${yaml}\nplants: { store: { enabled: false } }\n`);
  write('written', '');
  for (const name of ['claude', 'codex', 'opencode', 'gemini'])
    write(name, `#!/bin/sh\n${before(home)}${script}\n`, 0o755);
  for (const [name, content] of Object.entries(files)) write(name, content);
  return { home, env: { PATH: `${home}:${process.env.PATH}`, ...env } };
}
