import type { Config } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import { createTextScrubber } from '../gateway/scrub.ts';
import type { BudgetCounter, ReadSums, RestoredSum } from '../limits/counters.ts';
import { budgetCounters } from '../limits/limiter.ts';
import type { LedgerEvent } from '../record/ledger/ledger.ts';
import type { KnownSum, WantedSum } from '../record/ledger/ledger-row.ts';
import type { LedgerPlace } from '../record/ledger/ledger-store.ts';
import type { LogLevel } from '../record/recorder.ts';

/** Which ledger is kept; plain data, so that workers open the same one. */
export interface LedgerSettings {
  readonly place: LedgerPlace;
  readonly isSynced: boolean;
  /** Whether each exchange has a row. */
  readonly keepsRows: boolean;
  readonly days: number;
  readonly bytes: number;
}

type Log = (level: LogLevel, message: string) => void;

/**
 * Opens the ledger and sums up what the budgets have used. If it can't be opened, that is logged and retried; but with
 * budgets it throws config.invalid, because what is left of them would be unknown. Only an unreachable database is waited
 * for; until it answers, budgets refuse.
 */
export async function openLedgerFor(
  { place, isSynced, keepsRows, days, bytes }: LedgerSettings,
  { limits, secrets, state }: Pick<Config, 'limits' | 'secrets' | 'state'>,
  log: Log,
) {
  const { isLedgerInUse, openLedger } = await import('../record/ledger/open-ledger.ts');
  let followed = limits;
  const budgets = budgetCounters(limits, Date.now());
  const name = nameOf(place);
  const scrub = createTextScrubber(secrets);
  const isShared = state.url !== undefined;
  if (budgets.length > 0 && !isShared && place.path !== undefined && (await isLedgerInUse(place))) {
    log(
      'warn',
      `another gateway writes the ledger ${name} too: each lets the whole rest of a budget through`,
    );
  }
  const onEvent = (event: LedgerEvent) => {
    const [level, message] = describe(event, name);
    log(level, scrub(message));
  };
  const options = { place, isSynced, retention: { keepsRows, days, bytes }, onEvent };
  const { ledger, sums, problem } = await openLedger(options, budgets.map(toWanted));
  if (sums === undefined && budgets.length > 0 && problem?.isAway !== true) {
    await ledger.close();
    const advice =
      place.path === undefined
        ? 'check records.ledger_database, or set records.ledger: false'
        : 'repair it, move it away, or set records.ledger: false';
    const cause = scrub(problem?.message ?? '');
    throw new GatewayError('config.invalid', `the ledger ${name} can't be opened (${cause}): ${advice}`);
  }
  if (problem?.isAway === true) ledger.wait(problem.message);
  return {
    ledger,
    /** What budgets had used at start-up; empty if the database does not answer yet. */
    restored: sums === undefined ? [] : toRestored(budgets, sums),
    readSums: (async (some = budgetCounters(followed, Date.now())) =>
      readSumsOnce({ place }, some)) satisfies ReadSums,
    /** Another configuration is in force. */
    follow: (next: Pick<Config, 'limits'>) => {
      followed = next.limits;
    },
  };
}

/** What budgets have used, according to a ledger that any process may write. */
export async function readSumsOnce(
  { place }: Pick<LedgerSettings, 'place'>,
  budgets: readonly BudgetCounter[],
): Promise<readonly RestoredSum[]> {
  const { readLedgerSums } = await import('../record/ledger/read-ledger.ts');
  return toRestored(budgets, await readLedgerSums(place, budgets.map(toWanted)));
}

/** For messages: without the password. */
export function nameOf({ path, url }: LedgerPlace): string {
  return path ?? nameOfDatabase(url);
}

export function nameOfDatabase(address: string): string {
  const { host, pathname, searchParams } = new URL(address);
  return `postgres://${searchParams.get('host') ?? host}${pathname}`;
}

export function toWanted({ scope, name, session, startsMs, endsMs }: BudgetCounter): WantedSum {
  return { scope, name, session, sinceMs: startsMs, untilMs: endsMs };
}

function toRestored(budgets: readonly BudgetCounter[], sums: readonly KnownSum[]): readonly RestoredSum[] {
  return budgets.map(({ counter, session, unit, endsMs }, i) => {
    const used = sums[i]?.[unit] ?? 0;
    return { counter, endsMs, used, ...(session !== undefined && { session }) };
  });
}

function describe(event: LedgerEvent, name: string): [level: 'info' | 'warn' | 'error', message: string] {
  switch (event.kind) {
    case 'failing':
      return [
        'error',
        `the journal of the ledger ${name} cannot be written, so keys with a budget are refused: ${event.cause}`,
      ];
    case 'working':
      return ['info', `the journal of the ledger ${name} can be written again`];
    case 'waiting':
      return ['error', `the ledger ${name} cannot be written; its journal waits meanwhile: ${event.cause}`];
    case 'moving':
      return ['info', `the ledger ${name} can be written again`];
    case 'left':
      return [
        'warn',
        `lines of the ledger ${name} that are still in its journal: ${event.lines}; the next gateway that starts here moves them`,
      ];
    case 'lost':
      return [
        'error',
        `${event.lines} lines of the ledger ${name} were lost: its journal could not be written`,
      ];
    case 'notice':
      return ['warn', event.message];
  }
}
