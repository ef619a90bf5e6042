import { readFileSums } from './known-sums.ts';
import { type FirstTry, type Ledger, type LedgerOptions, LedgerThread } from './ledger.ts';

/** A ledger that is open, or that is being opened: until then intents wait, or fail once that has failed. */
export interface OpenedLedger extends FirstTry {
  readonly ledger: Ledger;
}

/** Starting a thread takes more CPU time than the rest of a file's ledger, so it comes after the gateway is ready. */
const threadAfterMs = 250;

/** A file's sums are read here, in a few milliseconds; what a database answers is waited for. */
export async function openLedger(options: LedgerOptions): Promise<OpenedLedger> {
  const ledger = new LedgerThread(options);
  const known = await readEarly(options);
  if (known === undefined) {
    ledger.start();
    const alive = setInterval(() => undefined, 60_000); // the thread keeps no process alive
    const tried = await ledger.tried;
    clearInterval(alive);
    return { ledger, ...tried };
  }
  setTimeout(() => ledger.start(), threadAfterMs).unref();
  return { ledger, ...known };
}

/** Undefined if only the thread can know. */
async function readEarly({ path, wanted }: LedgerOptions): Promise<FirstTry | undefined> {
  if (path === undefined) return undefined;
  try {
    const sums = wanted.length === 0 ? [] : await readFileSums(path, wanted);
    return sums && { sums, problem: undefined };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return { sums: undefined, problem: { cause, isAway: false } };
  }
}
