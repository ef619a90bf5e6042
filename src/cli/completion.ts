import { Argument, type Command } from 'commander';
import { type Shell, scripts, shells } from './completion/scripts.ts';
import { createCommand } from './shell/command.ts';
import { type Io, write } from './shell/io.ts';
import { outputFormat } from './shell/output-format.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'completion',
    summary: 'print a completion script for commands, options, models and names',
    examples: [
      "echo 'source <(gateway completion bash)' >> ~/.bashrc",
      "echo 'source <(gateway completion zsh)' >> ~/.zshrc",
      'gateway completion fish > ~/.config/fish/completions/gateway.fish',
    ],
  })
    .addArgument(new Argument('<shell>', 'whose').choices(shells))
    .action(async (shell: Shell, _options: unknown, command: Command) => {
      outputFormat(command, ['text']);
      await write(io.stdout, scripts[shell]);
    });
}
