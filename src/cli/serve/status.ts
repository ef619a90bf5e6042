import type { Command } from 'commander';
import { createCommand, outputFormat } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printRunning } from './print-running.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'status',
    summary: "show this user's gateway; exit 8 when none is running",
    examples: [
      'gateway status',
      'gateway status -o json',
      'gateway status > /dev/null || gateway serve --detach',
    ],
  }).action(async (_options: unknown, command: Command) => {
    const output = outputFormat(command, ['text', 'json', 'ndjson', 'yaml', 'table']);
    await printRunning(io, { output });
  });
}
