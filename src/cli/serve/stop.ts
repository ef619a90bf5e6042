import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import { isAlive } from '../../client/address.ts';
import { GatewayError } from '../../errors.ts';
import { commonOptions, createCommand } from '../shell/command.ts';
import { deadline, type Io, write } from '../shell/io.ts';
import { findRunning } from './print-running.ts';

const pollMs = 30;
/** Between the signal that begins to drain and the one that ends it. */
const betweenSignalsMs = 200;

export function build(io: Io): Command {
  return createCommand({
    name: 'stop',
    summary: "stop this user's gateway, once its open exchanges are over; exit 8 when none is running",
    examples: ['gateway stop', 'gateway stop --now', 'gateway stop --timeout 5 || gateway stop --now'],
  })
    .option('--now', 'cut open exchanges')
    .action(async ({ now }: { readonly now?: true }, command: Command) => {
      const options = commonOptions(command);
      const { running } = await findRunning(io);
      const signal = deadline(io.signal, options.timeout);
      kill(running.pid);
      if (now === true) {
        await setTimeout(betweenSignalsMs);
        kill(running.pid);
      }
      while (isAlive(running.pid)) {
        signal.throwIfAborted();
        await setTimeout(pollMs);
      }
      if (options.quiet !== true && io.stderr.isTTY === true)
        await write(io.stderr, `stopped ${running.url}\n`);
    });
}

/** Whether there was still a process to signal. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGTERM');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ESRCH') return false; // what kill throws
    throw new GatewayError('gateway.unreachable', `process ${pid} can't be stopped by this user`, { cause });
  }
}
