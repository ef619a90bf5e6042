import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { callAsOwner } from '../../client/call.ts';
import { writeStateText } from '../../client/state.ts';
import { toFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import { commonOptions, createCommand, outputFormat } from '../shell/command.ts';
import { deadline, type Io } from '../shell/io.ts';
import { print } from '../shell/print/print.ts';
import { findRunning } from './print-running.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'open',
    summary: 'open the live page by a link that works once; exit 8 when no gateway is running',
    examples: ['gateway open', 'gateway open --no-browser', 'gateway open | wl-copy'],
  })
    .option('--no-browser', 'only print the link')
    .action(async ({ browser }: { readonly browser: boolean }, command: Command) => {
      const format = outputFormat(command, ['text', 'json']);
      const link = await createLink(io, commonOptions(command).timeout);
      await print(format === 'json' ? `${JSON.stringify({ url: link })}\n` : `${link}\n`, io);
      // In a pipe only the link is printed; its reader opens it.
      if (browser && io.stdout.isTTY === true) openInBrowser(link, io);
    });
}

/** A link that lets one browser in, once, within a minute. */
async function createLink(io: Io, timeout: number | undefined): Promise<string> {
  const { running } = await findRunning(io);
  const answer = callAsOwner(running, '/_/api/link', deadline(io.signal, timeout));
  const { token } = toFields(await answer.catch(explainAbsence));
  // In the fragment, so that it appears in no log and no Referer.
  return `${running.url}/_/#token=${String(token)}`;
}

function explainAbsence(error: unknown): never {
  if (!(error instanceof GatewayError) || error.failure.status !== 404) throw error;
  throw new GatewayError(
    'config.invalid',
    'this gateway serves no live page: it is switched off (inspector.enabled), or there are several workers (server.workers: 1 has one), or others can reach the address and there is no inspector.password_file',
  );
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Passes the link in a file that only this user can read: every user can see the arguments of a process. */
function openInBrowser(link: string, { env, stderr }: Io): void {
  const page = `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=${link}">\n`;
  const file = pathToFileURL(writeStateText(env, 'open.html', page)).href;
  const [command = 'xdg-open', ...rest] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...rest, file], { detached: true, stdio: 'ignore', env });
  child.on(
    'error',
    () => void stderr.write('no browser was found: open the link yourself, within a minute\n'),
  );
  child.unref();
}
