import { Command, InvalidArgumentError, Option } from 'commander';
import { clientNames } from '../policy/matchers/client-names.ts';
import { createCommand, withClosingHelp, withCommonOptions } from './shell/command.ts';
import type { Io } from './shell/io.ts';

// The policy engine, the schema and the YAML parser are loaded when a command runs, so that completing its options
// doesn't wait for them.

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

function buildTest(io: Io): Command {
  return createCommand({
    name: 'test',
    summary: "run fixtures and the rules' own tests; exit 1 if one fails",
    examples: [
      'gateway policy test',
      'gateway policy test policies/*.test.yaml',
      'gateway policy test -o json fixtures.yaml',
    ],
  })
    .argument('[files...]', "YAML files with fixtures (without any: the rules' own tests)")
    .action(async (files: readonly string[], _options: unknown, command: Command) => {
      const { testPolicies } = await import('./policy/test.ts');
      await testPolicies(files, command, io);
    });
}

function buildExplain(io: Io): Command {
  return createCommand({
    name: 'explain',
    summary: 'show what each rule decides about a request; exit 3 if it is blocked',
    examples: [
      'gateway policy explain request.json',
      'gateway policy explain request.json --endpoint chat --key shop-web',
      'gateway policy explain - -o json < request.json',
    ],
  })
    .argument('<file>', 'the body of a request as it is sent, or a fixture (.yaml); - reads standard input')
    .option('--key <id>', 'key that the request comes with (default: the only one)')
    .option(
      '--endpoint <name>',
      'endpoint (chat) or path (/v1beta/models/NAME:generateContent) where it is sent',
    )
    .option(
      '--time <time>',
      'when it is sent, for rules that depend on the time (default: now)',
      timeArgument,
    )
    .addOption(new Option('--client <name>', 'agent that sends it').choices(clientNames))
    .option('--session <id>', 'session that its client names')
    .option('--class <name>', 'what its client says that it is for, such as compaction')
    .action(async (file: string, _options: unknown, command: Command) => {
      const { printExplanation } = await import('./policy/explain.ts');
      await printExplanation(file, command, io);
    });
}

function buildReplay(io: Io): Command {
  return createCommand({
    name: 'replay',
    summary:
      'show what the current policies would decide on recorded requests; exit 1 if any decision differs',
    examples: [
      'gateway policy replay',
      'gateway policy replay records.jsonl -c next.yaml --all',
      'tail -n 1000 records.jsonl | gateway policy replay - -o ndjson',
    ],
  })
    .argument(
      '[records]',
      "JSON lines written with records.bodies: true; - reads standard input (default: the gateway's own)",
    )
    .option('--key <id>', 'decide as for this key (default: the key of each record)')
    .option('--all', 'list the requests whose decision is unchanged, too')
    .action(async (file: string | undefined, _options: unknown, command: Command) => {
      const { replay } = await import('./policy/replay.ts');
      await replay(file, command, io);
    });
}

function timeArgument(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError('expected a time such as 2026-01-07T12:00:00Z');
  return time;
}
