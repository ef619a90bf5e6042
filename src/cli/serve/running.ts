import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { isAlive, type RunningGateway, readRunning } from '../../client/address.ts';
import { callAsOwner, readHealth } from '../../client/call.ts';
import { refuseForeignState, writeStateText } from '../../client/state.ts';
import { toFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import { type CommonOptions, commonOptions, createCommand, outputFormat } from '../shell/command.ts';
import { deadline, type Io } from '../shell/io.ts';
import { note, print, printValue } from '../shell/print/print.ts';
import { wrapped } from '../shell/print/wrapped.ts';

export function statusCommand(io: Io): Command {
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

const pollMs = 30;
/** Between the signal that begins to drain and the one that ends it. */
const betweenSignalsMs = 200;

export function stopCommand(io: Io): Command {
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
      if (options.quiet !== true && io.stderr.isTTY === true) await note(`stopped ${running.url}\n`, io);
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

export function buildOpen(io: Io): Command {
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

export interface Running {
  readonly running: RunningGateway;
  /** What it reported to its owner. */
  readonly health: Readonly<Record<string, unknown>>;
}

/** How long a gateway may take to prove that it is there, in seconds. */
const proofSeconds = 10;

/** The running gateway of this user, after it has proved its identity. Throws gateway.unreachable if there is none. */
async function findRunning(io: Io): Promise<Running> {
  const running = readRunning(io.env);
  if (running === undefined) {
    refuseForeignState(io.env);
    throw new GatewayError('gateway.unreachable', 'no gateway is running; start one with "gateway serve"');
  }
  return { running, health: toFields(await readHealth(running, deadline(io.signal, proofSeconds))) };
}

export async function printRunning(io: Io, options: Pick<CommonOptions, 'output'>): Promise<void> {
  const { running, health } = await findRunning(io);
  const { url, pid, since, config, refused, log, plants_url } = running;
  const { exchanges, streams } = toFields(health.open);
  const value = {
    url,
    pid,
    since: since ?? null,
    config: {
      path: config?.path ?? null,
      hash: config?.hash ?? null,
      since: config?.since ?? null,
      refused: refused ?? null,
    },
    open: { exchanges: exchanges ?? null, streams: streams ?? null },
    plants_url: plants_url ?? null,
    log: log ?? null,
  };
  const rows = [
    ['url', url],
    ['pid', String(pid)],
    ['since', since ?? ''],
    ['config', `${config?.path ?? 'none: sandbox mode'}  ${config?.hash.slice(0, 12) ?? ''}`],
    ...(refused === undefined ? [] : refusedRows(refused, config?.since)),
    ['open', `${exchanges ?? 0} exchanges, ${streams ?? 0} of them streams`],
    ...(plants_url === undefined ? [] : [['plants', plants_url]]),
    ...(log === undefined ? [] : [['log', log]]),
  ];
  const text = rows.map(([name = '', cell]) => `${name.padEnd(8)}${cell}\n`).join('');
  await printValue(value, await wrapped(text, io.stdout), options, io);
}

/** What is in force, and why that is not what the file says now. */
function refusedRows({ message, since }: NonNullable<RunningGateway['refused']>, inForce = ''): string[][] {
  const [first = '', ...more] = message.trimEnd().split('\n');
  return [
    ['', `in force since ${inForce}`],
    ['invalid', `the file was changed and not taken over (${since}):`],
    ['', first],
    ...more.map((line) => ['', line]),
  ];
}
