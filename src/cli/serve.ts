import { type Command, Option } from 'commander';
import type { ServeOptions } from './serve/serve.ts';
import { commonOptions, createCommand, portNumber, workerCount } from './shell/command.ts';
import type { Io } from './shell/io.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'serve',
    summary: 'start the gateway',
    examples: [
      'gateway serve',
      'gateway serve -c team.yaml -p 8080',
      'gateway serve --log json 2>> gateway.log',
    ],
  })
    .option('-p, --port <port>', 'port to listen on (default: 4100)', portNumber)
    .option('--host <host>', 'address to listen on (default: 127.0.0.1)')
    .option('--workers <n>', 'processes that share the port (default: 1)', workerCount)
    .option('--plants-port <port>', 'port of the plant store; 0 takes a free one (default: 4101)', portNumber)
    .option('--no-watch', 'reload the configuration on SIGHUP only, not when its file changes')
    .addOption(new Option('--log <format>', 'what stderr gets').choices(['pretty', 'json']))
    .option('--detach', 'serve in the background; returns when it is ready')
    .option('--dry-run', 'check the configuration, print what would be started, and stop')
    .action(async (_options: unknown, command: Command) => {
      const { serve } = await import('./serve/serve.ts');
      await serve(commonOptions(command) as ServeOptions, io);
    });
}
