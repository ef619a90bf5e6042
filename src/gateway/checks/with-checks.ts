import { Lifetime } from '../../lib/lifetime.ts';
import {
  type CheckBook,
  type CheckResults,
  type KeptSizes,
  Unchecked,
} from '../../policy/checks/check-book.ts';
import type { CheckCalls } from './check-calls.ts';

/** What a request becomes is checked as well: redacted, up to three times, and then perhaps translated. */
const maxRounds = 8;

/** Who is asked, and on whose behalf. */
interface Checking {
  readonly checks: CheckBook;
  readonly calls: CheckCalls;
  readonly lifetime?: Lifetime | undefined;
  readonly key?: string;
}

/**
 * Decides, asks the services about all texts that they have not been asked about, and decides again with their results,
 * until no such text is left. Most requests take one round, or none. Rejects with the lifetime's reason if that ends; where
 * texts keep changing the last decision fails its rules.
 */
export async function withChecks<Decided>(
  { checks, calls, lifetime = new Lifetime(), key = '' }: Checking,
  attempt: (known: CheckResults) => Decided | Unchecked | Promise<Decided | Unchecked>,
): Promise<Decided> {
  const kept: KeptSizes = new Map();
  let known: CheckResults = new Map();
  for (let round = 0; ; round += 1) {
    const decided = await attempt(known);
    if (!(decided instanceof Unchecked)) return decided;
    lifetime.check();
    known = decided.results;
    const isOver = round >= maxRounds;
    await Promise.all(
      decided.unasked.map(async ({ service, texts }) => {
        const results = isOver
          ? texts.map(({ id }) => [id, { failure: 'its texts kept changing' }] as const)
          : await calls.ask(checks, { service, texts }, { lifetime, key, kept });
        for (const [id, result] of results) known.set(id, result);
      }),
    );
    lifetime.check();
  }
}
