import { type Command, Option } from 'commander';
import { GatewayError } from '../errors.ts';
import { createCalendar } from '../limits/limit-table.ts';
import { totalUsage, type UsageGroup, type UsageSum, usageGroups } from '../record/ledger/usage-report.ts';
import { type CommonOptions, commonOptions, createCommand, durationArgument } from './shell/command.ts';
import { type Io, write } from './shell/io.ts';
import { localMinute, note, printValue } from './shell/print/print.ts';
import { alignedUsd, csv as csvRows, isTable, rowsText } from './shell/print/table.ts';
import { type BudgetUse, readBudgets } from './usage/budgets.ts';
import { fromLedger, type UsageLedger } from './usage/from-ledger.ts';
import { monthArgument, usagePeriod, zoneOfBudgets } from './usage/period.ts';

interface UsageOptions {
  readonly by: UsageGroup;
  readonly since: number;
  readonly today?: true;
  /** True for the current one. */
  readonly month?: string | true;
  readonly budgets?: true;
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
const narrowedFirst = [
  'UNPRICED',
  'ESTIMATED',
  'REASONING TOKENS',
  'CACHE WRITE TOKENS',
  'CACHE READ TOKENS',
];

export function build(io: Io): Command {
  return createCommand({
    name: 'usage',
    summary: 'sum up what was used, and show what is left of budgets, from the ledger',
    examples: ['gateway usage --month', 'gateway usage --by model --since 30d', 'gateway usage --budgets'],
  })
    .addOption(new Option('--by <what>', 'one row for each').choices(usageGroups).default('project'))
    .addOption(
      new Option('--since <duration>', 'how far to look back, as 90m, 24h, 7d or 4w')
        .argParser(durationArgument)
        .default(weekMs, '7d'),
    )
    .addOption(new Option('--today', 'since midnight').conflicts(['since', 'month']))
    .addOption(
      new Option('--month [month]', 'this calendar month, or another one, as 2026-10')
        .argParser(monthArgument)
        .conflicts('since'),
    )
    .addOption(
      new Option(
        '--budgets',
        'what is used, reserved and left of each budget, and when it starts again',
      ).conflicts(['by', 'since', 'today', 'month']),
    )
    .option('--csv', 'print comma-separated values with a header')
    .action(async (options: UsageOptions, command: Command) => {
      const common = commonOptions(command);
      if (options.csv === true && common.output !== undefined) {
        throw new GatewayError('usage.invalid', '--csv and -o exclude each other', { param: 'csv' });
      }
      await (options.budgets === true ? budgets : usage)(options, common, io);
    });
}

async function usage(options: UsageOptions, common: CommonOptions, io: Io): Promise<void> {
  const { by, csv } = options;
  const read = async ({ config, place }: UsageLedger) => {
    const { readUsage } = await import('../record/ledger/read-ledger.ts');
    const calendar = createCalendar(zoneOfBudgets(config));
    return readUsage(place, { by, ...usagePeriod(options, Date.now(), calendar), dayOf: calendar.dayName });
  };
  const sums = await fromLedger(common, io, read, { nothing: 'no request in this time' });
  if (csv === true) {
    const rows = sums.map((sum) => [...namesOf(sum), ...fields.map((field) => sum[field])]);
    return write(io.stdout, csvRows([[...namesBy(by), ...fields], ...rows]));
  }
  const header = [...namesBy(by), ...fields].map((name) => name.replaceAll('_', ' ').toUpperCase());
  const named = sums.map(({ name, ...rest }) => ({ [by]: name, ...rest }));
  await printValue(
    named,
    // Of ten thousand sessions a table takes longer than their sums.
    () => rowsText(header, usageRows(sums, common, io), common, io, narrowedFirst),
    common,
    io,
  );
}

/** The columns that say whose usage a row is: the same session of another key is another one. */
function namesBy(by: UsageGroup): readonly string[] {
  return by === 'session' ? [by, 'key'] : [by];
}

function namesOf({ name, key }: UsageSum): readonly string[] {
  return key === undefined ? [name] : [name, key];
}

/** In a table with their total, which a script that adds up lines must not find among them. */
function usageRows(sums: readonly UsageSum[], common: CommonOptions, io: Io): readonly (readonly string[])[] {
  const isForPeople = isTable(common, io);
  const shown = isForPeople && sums.length > 1 ? [...sums, totalUsage(sums)] : sums;
  const costs = alignedUsd(shown.map(({ cost_usd }) => cost_usd));
  return shown.map((sum, i) => [
    ...namesOf(sum).map((name) => (isForPeople && name === '' ? '-' : name)),
    ...fields.map((field) => (isForPeople && field === 'cost_usd' ? (costs[i] ?? '') : String(sum[field]))),
  ]);
}

const budgetFields = [
  'scope',
  'name',
  'limit',
  'used',
  'reserved',
  'left',
  'max',
  'resets_at',
  'mode',
] as const satisfies readonly (keyof BudgetUse)[];
const narrowedBudgetFirst = ['MODE', 'RESERVED', 'SCOPE', 'MAX', 'RESETS AT', 'USED'];

async function budgets({ csv }: UsageOptions, common: CommonOptions, io: Io): Promise<void> {
  const found = await fromLedger(common, io, async ({ config, place }) => {
    const all = await readBudgets(config, place, Date.now());
    if (all.length === 0 && common.quiet !== true)
      await note('no budget is configured: limits of projects and keys, such as usd_per_month\n', io);
    return all;
  });
  if (csv === true) {
    const rows = found.map((budget) => budgetFields.map((field) => budget[field]));
    return write(io.stdout, csvRows([budgetFields, ...rows]));
  }
  const header = budgetFields.map((name) => name.replaceAll('_', ' ').toUpperCase());
  const rows = found.map((budget) => budgetRow(budget, isTable(common, io)));
  await printValue(found, rowsText(header, rows, common, io, narrowedBudgetFirst), common, io);
}

function budgetRow(budget: BudgetUse, isForPeople: boolean): readonly string[] {
  if (!isForPeople) return budgetFields.map((field) => String(budget[field]));
  const { used, reserved, left, max } = budget;
  const numbers = [used, reserved, left, max];
  const amounts = budget.limit.startsWith('usd') ? alignedUsd(numbers) : numbers.map(String);
  const { scope, name, limit, resets_at: resets, mode } = budget;
  return [scope, name, limit, ...amounts, localMinute(Date.parse(resets)), mode];
}
