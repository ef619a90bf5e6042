import type { Config } from '../../../config/config.ts';
import { GatewayError } from '../../../errors.ts';
import { createTextScrubber } from '../../../gateway/answer/scrub.ts';
import { budgetCounters } from '../../../limits/budget-counters.ts';
import type { BudgetCounter, ReadSums, RestoredSum } from '../../../limits/counters.ts';
import type { Ledger, LedgerEvent } from '../../../record/ledger/ledger.ts';
import type { KnownSum, WantedSum } from '../../../record/ledger/ledger-row.ts';
import type { LedgerPlace } from '../../../record/ledger/ledger-store.ts';
import type { LogLevel } from '../serve-log.ts';

/** Which ledger is kept; plain data, so that workers open the same one. */
export interface LedgerSettings {
  readonly place: LedgerPlace;
  readonly days: number;
  readonly bytes: number;
}

interface OpenedLedger {
  readonly ledger: Ledger;
  /** What budgets had used at start-up; empty if the database does not answer yet. */
  readonly restored: readonly RestoredSum[];
  readonly readSums: ReadSums;
  /** Another configuration is in force. */
  readonly follow: (next: Pick<Config, 'limits'>) => void;
}

type Log = (level: LogLevel, message: string) => void;

/**
 * Opens the ledger and sums up what the budgets have used. If it can't be opened, that is logged and retried; but with
 * budgets it throws config.invalid, because what is left of them would be unknown. Only an unreachable database is waited
 * for; meanwhile it accepts no intents, so budgets refuse.
 */
export async function openLedgerFor(
  { place, days, bytes }: LedgerSettings,
  { limits, secrets, state }: Pick<Config, 'limits' | 'secrets' | 'state'>,
  log: Log,
): Promise<OpenedLedger> {
  const [{ openLedger }, { isLedgerInUse }] = await Promise.all([
    import('../../../record/ledger/open-ledger.ts'),
    import('../../../record/ledger/ledger-owner.ts'),
  ]);
  let followed = limits;
  const budgets = budgetCounters(limits, Date.now());
  const name = nameOf(place);
  const scrub = createTextScrubber(secrets);
  const isShared = state.url !== undefined;
  if (budgets.length > 0 && !isShared && place.path !== undefined && (await isLedgerInUse(place.path))) {
    log(
      'warn',
      `another gateway writes the ledger ${name} too: each lets the whole rest of a budget through`,
    );
  }
  const { ledger, sums, problem } = await openLedger({
    ...place,
    retention: { days, bytes },
    wanted: budgets.map(toWanted),
    onEvent: (event) => {
      const [level, message] = describe(event, name);
      log(level, scrub(message));
    },
  });
  if (sums === undefined && budgets.length > 0 && problem?.isAway !== true) {
    await ledger.close();
    const advice = 'repair it, move it away, or set records.ledger: false';
    const cause = scrub(problem?.cause ?? '');
    throw new GatewayError('config.invalid', `the ledger ${name} can't be opened (${cause}): ${advice}`);
  }
  return {
    ledger,
    restored: sums === undefined ? [] : toRestored(budgets, sums),
    readSums: async (some = budgetCounters(followed, Date.now())) =>
      toRestored(some, await ledger.sums(some.map(toWanted))),
    follow: (next) => {
      followed = next.limits;
    },
  };
}

/** What budgets have used, according to a ledger that this process does not write. */
export async function readSumsOnce(
  { place, days, bytes }: LedgerSettings,
  budgets: readonly BudgetCounter[],
): Promise<readonly RestoredSum[]> {
  const { openLedger } = await import('../../../record/ledger/open-ledger.ts');
  const { ledger, sums, problem } = await openLedger({
    ...place,
    retention: { days, bytes },
    wanted: budgets.map(toWanted),
    onEvent: () => undefined, // the processes that write it log its failures
  });
  await ledger.close();
  if (sums === undefined) throw new Error(problem?.cause ?? 'the ledger does not answer');
  return toRestored(budgets, sums);
}

/** For messages: without the password. */
export function nameOf({ path, url }: LedgerPlace): string {
  if (path !== undefined) return path;
  const { host, pathname, searchParams } = new URL(url);
  return `postgres://${searchParams.get('host') ?? host}${pathname}`;
}

function toWanted({ scope, name, startsMs, endsMs }: BudgetCounter): WantedSum {
  return { scope, name, sinceMs: startsMs, untilMs: endsMs };
}

function toRestored(budgets: readonly BudgetCounter[], sums: readonly KnownSum[]): readonly RestoredSum[] {
  return budgets.map(({ counter, unit, endsMs }, i) => {
    const sum = sums[i];
    return { counter, endsMs, used: (unit === 'nanoUsd' ? sum?.nanoUsd : sum?.tokens) ?? 0 };
  });
}

function describe(event: LedgerEvent, name: string): [level: 'info' | 'error', message: string] {
  switch (event.kind) {
    case 'failing':
      return [
        'error',
        `the ledger ${name} cannot be written, so keys with a budget are refused: ${event.cause}`,
      ];
    case 'working':
      return ['info', `the ledger ${name} can be written again`];
    case 'lost':
      return ['error', `${event.changes} changes of the ledger ${name} were lost: it could not be written`];
  }
}
