import { Command } from 'commander';
import { build as buildExplain } from './policy/explain.ts';
import { build as buildReplay } from './policy/replay.ts';
import { build as buildTest } from './policy/test.ts';
import { exitCodeHelp, withCommonOptions } from './shell/command.ts';
import type { Io } from './shell/io.ts';

const examples = [
  'gateway policy test policies/*.yaml',
  'gateway policy explain request.json',
  'gateway policy replay records.jsonl',
];

export function build(io: Io): Command {
  const policy = withCommonOptions(new Command('policy'))
    .description('try policies without a running gateway: test, explain, replay')
    .addHelpText(
      'after',
      `\nExamples:\n${examples.map((line) => `  ${line}\n`).join('')}\n${exitCodeHelp()}`,
    );
  for (const buildCommand of [buildTest, buildExplain, buildReplay]) policy.addCommand(buildCommand(io));
  return policy;
}
