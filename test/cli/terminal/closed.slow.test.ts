import { connect } from 'node:net';
import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { directoryWith, withoutStore } from '../../kit/command.ts';
import { freePort, untilListening } from '../../kit/ports.ts';
import { startTerminal } from '../../kit/terminal.ts';

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

test.each([1, 2])(
  'serve with %d workers ends with its terminal, and not by a SIGHUP of kill',
  async (workers) => {
    const home = directoryWith(withoutStore);
    const port = await freePort();
    const terminal = startTerminal(['serve', '-p', String(port), '--workers', String(workers)], { home });
    await untilListening(port);
    await terminal.shows('try ');

    process.kill(terminal.pid, 'SIGHUP');
    await terminal.shows('configuration reloaded');
    expect(await listens(port)).toBe(true);
    terminal.close();

    await expect.poll(() => listens(port)).toBe(false);
    // And not by an abort, at which the memory may be written to a file.
    expect(await terminal.ended).toMatchObject({ signal: constants.signals.SIGHUP });
  },
);
