import { Argument, type Command, Option } from 'commander';
import { readHealth } from '../client/call.ts';
import { type ClientName, clientNames, clientOf } from './agents/clients.ts';
import { readModelLimits } from './agents/model-limits.ts';
import { pastProxies } from './agents/past-proxies.ts';
import { exportLines, type ShellName, shellNames, unsetLines } from './agents/shell-lines.ts';
import { commonOptions, createCommand } from './shell/command.ts';
import { type Io, write } from './shell/io.ts';
import { deadline } from './shell/output.ts';
import { outputFormat } from './shell/output-format.ts';
import { gatewayTarget } from './shell/target.ts';

interface EnvOptions {
  readonly unset?: true;
  readonly model?: string;
  readonly shell: ShellName;
}

const proofSeconds = 10;

export function build(io: Io): Command {
  return createCommand({
    name: 'env',
    summary: 'print the settings that point a client at the gateway, key included, as lines for a shell',
    examples: [
      'eval "$(gateway env claude)" && claude -p "hello"',
      'gateway env claude --shell fish | source',
      'gateway env openai -o json',
    ],
  })
    .addArgument(new Argument('<client>', 'the client that will use the gateway').choices(clientNames))
    .option('--unset', 'print lines that undo the settings')
    .addOption(new Option('--shell <name>', 'shell syntax of the lines').choices(shellNames).default('sh'))
    .addOption(new Option('-m, --model <name>', "model to ask for (default: the client's own)"))
    .action(async (name: ClientName, { unset, model, shell }: EnvOptions, command: Command) => {
      const options = commonOptions(command);
      const format = outputFormat(command, ['text', 'json']);
      if (unset === true) {
        const limits = { contextWindow: 0, maxOutputTokens: 0 };
        const own = clientOf(name).settings({ url: '', key: '', model: '', limits });
        const settings = { ...own, variables: { ...own.variables, ...own.defaults } };
        return write(io.stdout, unsetLines({ name, settings }, shell));
      }
      const target = await gatewayTarget(options, io);
      // The lines contain a key, which must not be sent to whoever listens on the port of a dead gateway.
      if (target.proof !== undefined)
        await readHealth(target, deadline(io.signal, options.timeout ?? proofSeconds));
      const requested = model ?? (io.env.GATEWAY_MODEL || undefined);
      const { url, key } = target;
      const signal = deadline(io.signal, options.timeout ?? proofSeconds);
      // The lines are as good for a gateway that is started later.
      const limits =
        requested === undefined ? {} : await readModelLimits(target, requested, signal).catch(() => ({}));
      const own = clientOf(name).settings({ url, key, model: requested, limits });
      const variables = { ...own.variables, ...own.defaults, ...pastProxies(url, io.env) };
      const settings = { ...own, variables };
      const conflicts = clientOf(name).conflicts.filter((variable) => io.env[variable] !== undefined);
      if (io.stdout.isTTY === true && options.quiet !== true) {
        await write(io.stderr, 'these lines contain a key: they are for eval, not for a file or a chat\n');
      }
      const value = { variables: settings.variables, unset: conflicts, arguments: settings.arguments ?? [] };
      const text =
        format === 'json' ? `${JSON.stringify(value)}\n` : exportLines({ name, settings, conflicts }, shell);
      await write(io.stdout, text);
    });
}
