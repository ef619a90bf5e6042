import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { GatewayError } from '../errors.ts';
import { type UsageGroup, type UsageSum, usageGroups } from '../record/ledger/usage-report.ts';
import { ledgerSettings, noLedgerReason } from '../server/ledger-path.ts';
import { type CommonOptions, commonOptions, createCommand, durationArgument } from './shell/command.ts';
import { type Io, write } from './shell/io.ts';
import { loadUserConfig } from './shell/load-config.ts';
import { localDay, printValue } from './shell/print/print.ts';
import { csv as csvRows, rowsText } from './shell/print/table.ts';
import { followRunning } from './shell/running-configuration.ts';

interface UsageOptions {
  readonly by: UsageGroup;
  readonly since: number;
  readonly csv?: true;
}

const weekMs = 604_800_000;
const fields = [
  'requests',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost_usd',
  'estimated',
  'unpriced',
] as const satisfies readonly (keyof UsageSum)[];

// The table's columns from the least important on, for narrow terminals.
const leastFirst = ['UNPRICED', 'ESTIMATED', 'REASONING TOKENS', 'CACHE WRITE TOKENS', 'CACHE READ TOKENS'];

export function build(io: Io): Command {
  return createCommand({
    name: 'usage',
    summary: 'sum up what was used, from the ledger',
    examples: ['gateway usage', 'gateway usage --by model --since 30d', 'gateway usage --by day --csv'],
  })
    .addOption(new Option('--by <what>', 'one row for each').choices(usageGroups).default('project'))
    .addOption(
      new Option('--since <duration>', 'how far to look back, as 90m, 24h, 7d or 4w')
        .argParser(durationArgument)
        .default(weekMs, '7d'),
    )
    .option('--csv', 'print comma-separated values with a header')
    .action(async (options: UsageOptions, command: Command) => {
      await usage(options, commonOptions(command), io);
    });
}

async function usage({ by, since, csv }: UsageOptions, options: CommonOptions, io: Io): Promise<void> {
  if (csv === true && options.output !== undefined) {
    throw new GatewayError('usage.invalid', '--csv and -o exclude each other', { param: 'csv' });
  }
  const { sums, note } = await read({ by, sinceMs: Date.now() - since }, options, io);
  if (note !== undefined && options.quiet !== true) await write(io.stderr, `${note}\n`);
  await show(sums, { by, csv: csv === true }, options, io);
}

async function show(
  sums: readonly UsageSum[],
  { by, csv }: { readonly by: UsageGroup; readonly csv: boolean },
  options: CommonOptions,
  io: Io,
): Promise<void> {
  if (csv) {
    return write(
      io.stdout,
      csvRows([[by, ...fields], ...sums.map((sum) => [sum.name, ...fields.map((field) => sum[field])])]),
    );
  }
  const rows = sums.map((sum) => [sum.name, ...fields.map((field) => String(sum[field]))]);
  const header = [by, ...fields].map((name) => name.replaceAll('_', ' ').toUpperCase());
  const named = sums.map(({ name, ...rest }) => ({ [by]: name, ...rest }));
  await printValue(named, rowsText(header, rows, options, io, leastFirst), options, io);
}

interface Found {
  readonly sums: readonly UsageSum[];
  /** Why there is no ledger to read. */
  readonly note?: string;
}

/** Throws config.invalid for a ledger that is turned off or can't be read. */
async function read(
  query: { by: UsageGroup; sinceMs: number },
  options: CommonOptions,
  io: Io,
): Promise<Found> {
  const followed = await followRunning(options, io);
  const loaded = followed && (await loadUserConfig(followed, io));
  const config = loaded?.config;
  const settings = loaded && ledgerSettings(loaded, io);
  if (config === undefined || settings === undefined) {
    const { isSandboxMode } = config ?? { isSandboxMode: true };
    const reason = noLedgerReason({ isSandboxMode });
    if (isSandboxMode) return { sums: [], note: reason };
    throw new GatewayError('config.invalid', reason);
  }
  const { place } = settings;
  const report = { ...query, dayOf: localDay };
  try {
    const { readUsage } = await import('../record/ledger/read-ledger.ts');
    const sums = await readUsage(place, report);
    const isNone = sums.length === 0 && place.path !== undefined && !existsSync(place.path);
    return isNone ? { sums, note: 'nothing was served yet: the first request makes the ledger' } : { sums };
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const [{ createTextScrubber }, { nameOf }] = await Promise.all([
      import('../gateway/scrub.ts'),
      import('../server/ledger.ts'),
    ]);
    const reason = createTextScrubber(config.secrets)(cause instanceof Error ? cause.message : String(cause));
    throw new GatewayError('config.invalid', `the ledger ${nameOf(place)} can't be read: ${reason}`, {
      cause,
    });
  }
}
