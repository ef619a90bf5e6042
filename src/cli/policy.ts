import { Command } from 'commander';
import { build as buildExplain } from './policy/explain.ts';
import { build as buildReplay } from './policy/replay.ts';
import { build as buildTest } from './policy/test.ts';
import { withClosingHelp, withCommonOptions } from './shell/command.ts';
import type { Io } from './shell/io.ts';

const examples = [
  'gateway policy test policies/*.yaml',
  'gateway policy explain request.json',
  'gateway policy replay records.jsonl',
];

export function build(io: Io): Command {
  const policy = withClosingHelp(
    withCommonOptions(new Command('policy')).description(
      'try policies without a running gateway: test, explain, replay',
    ),
    examples,
  );
  for (const buildCommand of [buildTest, buildExplain, buildReplay]) policy.addCommand(buildCommand(io));
  return policy;
}
