import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Shell, scripts, shells } from '../../../src/cli/completion.ts';
import { bin } from '../../kit/build.ts';
import { emptyDirectory } from '../../kit/own-configuration.ts';
import { startTerminal, type Terminal } from '../../kit/terminal.ts';

// A model with a character at which bash ends a word.
const yaml = `
models:
  - { match: "llama3.2:latest", provider: sandbox }
projects:
  shopfront: { keys: [] }
`;

const start: Readonly<Record<Shell, (rc: string) => readonly string[]>> = {
  bash: (rc) => ['--noprofile', '--rcfile', rc, '-i'],
  zsh: () => ['-i'],
  fish: () => ['-i'],
};

const prepare: Readonly<Record<Shell, string>> = {
  bash: "PS1='ready> '\nbind 'set bell-style none'\n",
  zsh: "PS1='ready> '\nunsetopt BEEP\n",
  fish: "function fish_prompt; printf 'ready> '; end\nset -g fish_greeting\nset -g fish_autosuggestion_enabled 0\n",
};

let home: string;
beforeAll(() => {
  home = emptyDirectory();
  mkdirSync(join(home, 'bin'));
  mkdirSync(join(home, '.config', 'fish', 'completions'), { recursive: true });
  symlinkSync(bin, join(home, 'bin', 'gateway'));
  writeFileSync(join(home, 'gateway.yaml'), yaml, { mode: 0o600 });
  writeFileSync(join(home, 'house-rules.yaml'), '');
  writeFileSync(join(home, '.bashrc'), prepare.bash + scripts.bash);
  writeFileSync(join(home, '.zshrc'), `${prepare.zsh}${scripts.zsh}`);
  writeFileSync(join(home, '.config', 'fish', 'config.fish'), prepare.fish);
  writeFileSync(join(home, '.config', 'fish', 'completions', 'gateway.fish'), scripts.fish);
});

async function startShell(shell: Shell): Promise<Terminal> {
  const env = { PATH: `${join(home, 'bin')}:${process.env.PATH}`, XDG_STATE_HOME: join(home, 'state') };
  const terminal = startTerminal(start[shell](join(home, '.bashrc')), {
    home,
    env,
    program: shell,
    columns: 100,
  });
  await terminal.shows('ready>');
  return terminal;
}

/** Whether the line that follows the last prompt is this. */
function line(text: string): RegExp {
  return new RegExp(`ready> ${text.replace(/[.*+?^$()[\]{}|\\]/g, '\\$&')} ?(?:\\n|$)`);
}

const missing = shells.filter((shell) => spawnSync(shell, ['-c', 'true']).status !== 0);

for (const shell of shells) {
  describe.skipIf(missing.includes(shell))(shell, () => {
    test.each([
      ['a command', 'gateway comp', 'gateway completion'],
      ['an option', 'gateway send --no-str', 'gateway send --no-stream'],
      ['a choice behind =', 'gateway send --output=nd', 'gateway send --output=ndjson'],
      ['a project', 'gateway key new --project sh', 'gateway key new --project shopfront'],
      ['a model behind its colon', 'gateway send -m llama3.2:la', 'gateway send -m llama3.2:latest'],
      ['a file', 'gateway config check house', 'gateway config check house-rules.yaml'],
      ['a file behind =', 'gateway send --config=house', 'gateway send --config=house-rules.yaml'],
      ['a word after one with a quote', `gateway send "don't" --no-str`, `gateway send "don't" --no-stream`],
    ])('completes %s', async (_name, typed, expected) => {
      const terminal = await startShell(shell);

      terminal.type(`${typed}\t`);

      await terminal.shows(line(expected));
    });

    test('lists what is possible, and no file where no file is meant', async () => {
      const terminal = await startShell(shell);

      terminal.type('gateway completion \t\t');

      for (const name of shells) await terminal.shows(new RegExp(`\\s${name}(?:\\s|$)`));
      expect(terminal.screen()).not.toContain('house-rules');
    });

    test('evaluates nothing of the line', async () => {
      const terminal = await startShell(shell);

      terminal.type('gateway models "$(touch pwned)" --no-col\t');
      await terminal.shows('--no-color');

      expect(existsSync(join(home, 'pwned'))).toBe(false);
    });
  });
}
