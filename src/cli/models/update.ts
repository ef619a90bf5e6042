import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import { readText, send } from '../../client/http.ts';
import { removeState, writeStateText } from '../../client/state.ts';
import { keptTableName, keptTableNames, readKeptTable } from '../../config/source/kept-table.ts';
import { type ModelTable, type ReadTable, readModelTable } from '../../config/source/model-table.ts';
import { GatewayError } from '../../errors.ts';
import { isLoopbackHost } from '../../lib/loopback.ts';
import { messageOfError } from '../../lib/message-of.ts';
import { type FindKnownModel, knownModelFinder, knownModelNames } from '../../limits/known-models.ts';
import type { Price } from '../../limits/price.ts';
import { type CommonOptions, commonOptions, createCommand } from '../shell/command.ts';
import { readFileOrInput } from '../shell/input.ts';
import { deadline, type Io } from '../shell/io.ts';
import { note, printValue } from '../shell/print/print.ts';
import { rowsText } from '../shell/print/table.ts';

interface UpdateOptions {
  readonly dryRun?: true;
  readonly remove?: true;
}

const limitBytes = 16 * 1024 * 1024;
/** How many new models are listed one by one. */
const listed = 20;

export function buildUpdate(io: Io): Command {
  return createCommand({
    name: 'update',
    summary: 'take over prices and sizes of models from a file or a URL, and show what changes',
    examples: [
      'gateway models update prices.json',
      'gateway models update https://prices.example/models.json --dry-run',
      'gateway models update --remove',
    ],
  })
    .argument('[file-or-url]', 'where such a table is (docs/limits.md)')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--remove', 'go back to the prices that are built in')
    .action(async (source: string | undefined, options: UpdateOptions, command: Command) => {
      await update(source, { ...commonOptions(command), ...options }, io);
    });
}

async function update(
  source: string | undefined,
  options: CommonOptions & UpdateOptions,
  io: Io,
): Promise<void> {
  if ((source === undefined) === (options.remove !== true)) {
    const message = 'name a file or a URL, or --remove: nothing is fetched by itself';
    throw new GatewayError('usage.invalid', message, { param: 'file-or-url' });
  }
  const before = (await readKeptTable(io.env))?.table;
  const read = source === undefined ? undefined : await readSource(source, options, io);
  const retrieved = new Date().toISOString().slice(0, 10);
  const table = read && source !== undefined ? { source, retrieved, models: read.models } : undefined;
  const changes = changesOf(knownModelFinder(before), knownModelFinder(table), [
    ...knownModelNames,
    ...Object.keys(before?.models ?? {}),
    ...Object.keys(table?.models ?? {}),
  ]);
  const file = options.dryRun === true ? undefined : keep(table, io);
  await report({ source, file, rejected: read?.rejected ?? [], ...changes }, options, io);
}

/** Writes the table under its date and hash, and removes those before it; the path. */
function keep(table: ModelTable | undefined, io: Io): string | undefined {
  const old = keptTableNames(io.env);
  const content = `${JSON.stringify(table, null, 1)}\n`;
  const sha256 = createHash('sha256').update(content).digest('hex');
  const name = table && keptTableName(table.retrieved, sha256);
  const path = name === undefined ? undefined : writeStateText(io.env, name, content);
  for (const each of old) if (each !== name) removeState(io.env, each);
  return path;
}

async function readSource(source: string, options: CommonOptions, io: Io): Promise<ReadTable> {
  const bytes = /^[a-z]+:\/\//i.test(source)
    ? await fetchTable(source, deadline(io.signal, options.timeout))
    : await readFileOrInput(source, io);
  if (bytes.length > limitBytes) throw tooLarge();
  return readModelTable(bytes, source);
}

/** Throws usage.invalid for an address that may not be asked, provider.unreachable if it has no table for us. */
async function fetchTable(text: string, signal: AbortSignal): Promise<Buffer> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (url === undefined || !isSafe || url.username !== '' || url.password !== '') {
    const message = 'expected a file, or an https:// URL without a password (http:// on this machine)';
    throw new GatewayError('usage.invalid', message, { param: 'file-or-url' });
  }
  const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
  try {
    const response = await send(url, { method: 'GET', headers, agent: false, signal });
    const { statusCode: status = 0 } = response;
    if (status !== 200) {
      response.destroy();
      const hint = status >= 300 && status < 400 ? ': it leads elsewhere, name that address' : '';
      throw new GatewayError('provider.unreachable', `${url.host} answers ${status}${hint}`);
    }
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) response.destroy(tooLarge());
    });
    return Buffer.from(await readText(response));
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const message = `${url.host} can't be read: ${messageOfError(cause)}`;
    throw new GatewayError('provider.unreachable', message, { cause });
  }
}

function tooLarge(): GatewayError {
  return new GatewayError('config.invalid', `the table is larger than ${limitBytes / 1024 / 1024} MiB`);
}

interface Change {
  readonly name: string;
  readonly before?: string;
  readonly now?: string;
}

interface Changes {
  readonly added: readonly Change[];
  readonly changed: readonly Change[];
  readonly removed: readonly Change[];
}

function changesOf(before: FindKnownModel, now: FindKnownModel, names: readonly string[]): Changes {
  const all = [...new Set(names)].toSorted().map((name) => {
    const [old, next] = [before(name), now(name)].map((known) => known && priceText(known.price));
    return { name, ...(old !== undefined && { before: old }), ...(next !== undefined && { now: next }) };
  });
  return {
    added: all.filter(({ before: old, now: next }) => old === undefined && next !== undefined),
    changed: all.filter(
      ({ before: old, now: next }) => old !== undefined && next !== undefined && old !== next,
    ),
    removed: all.filter(({ before: old, now: next }) => old !== undefined && next === undefined),
  };
}

/** `3 / 15, cache 0.3 / 3.75`: US$ per million tokens of input and output, read from a cache and written to it. */
function priceText({ input, output, cacheRead, cacheWrite }: Price): string {
  return `${input} / ${output}, cache ${cacheRead} / ${cacheWrite}`;
}

interface Report extends Changes, Pick<ReadTable, 'rejected'> {
  readonly source: string | undefined;
  readonly file: string | undefined;
}

async function report(value: Report, options: CommonOptions & UpdateOptions, io: Io): Promise<void> {
  const { added, changed, removed, rejected, file } = value;
  const shown = [...changed, ...removed, ...added.slice(0, listed)];
  const rows = shown.map(({ name, before = '-', now = '-' }) => [name, before, now]);
  await printValue(value, rowsText(['MODEL', 'BEFORE', 'NOW'], rows, options, io), options, io);
  if (options.quiet === true) return;
  const more = added.length - listed;
  const lines = [
    `${added.length} new${more > 0 ? ` (${more} of them not listed here)` : ''}, ${changed.length} changed, ${removed.length} removed; US$ per million tokens: input / output, cache read / written`,
    ...rejected.slice(0, listed).map(({ name, why }) => `left out: ${name}: ${why}`),
    ...(rejected.length > listed ? [`left out: ${rejected.length - listed} more`] : []),
    ...(options.dryRun === true
      ? ['nothing was changed']
      : [
          ...(file === undefined ? [] : [`written to ${file}`]),
          'a running gateway takes it at its next reload or start',
        ]),
  ];
  await note(`${lines.join('\n')}\n`, io);
}
