import type { Command } from 'commander';
import { removeSession } from '../../client/session.ts';
import { GatewayError } from '../../errors.ts';
import { createCommand } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { printValue } from '../shell/print/print.ts';
import { withSpinner } from '../shell/spinner.ts';
import { connect } from './connect.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'logout',
    summary: 'plant store: end the session and delete it here',
    examples: ['gateway logout', 'gateway plants logout', 'PLANTS_TOKEN=… gateway logout'],
  }).action(async (_options: unknown, command: Command) => {
    const { options, connection, client } = await connect(command, io);
    const { baseUrl, token } = connection;
    // Deleted here first: whatever the store answers, this user is logged out on this machine.
    if (!io.env.PLANTS_TOKEN) removeSession(io.env, baseUrl);
    if (token !== undefined) {
      await withSpinner('logging out', options, io, () => client.logout()).catch((error: unknown) => {
        throw notRevoked(error);
      });
    }
    const wasLoggedIn = token !== undefined;
    const text = wasLoggedIn ? `logged out at ${baseUrl}\n` : `not logged in at ${baseUrl}: nothing to end\n`;
    const result = { base_url: baseUrl, logged_out: wasLoggedIn };
    await printValue(result, text, options, io);
  });
}

function notRevoked(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'store.unreachable') return error;
  const message = `forgotten here, but not revoked, so it is valid until it expires: ${error.message}`;
  return new GatewayError(error.code, message, { cause: error });
}
