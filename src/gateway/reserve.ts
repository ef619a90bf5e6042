import type { Route, Target } from '../providers/route.ts';
import type { DecidedRequest } from './decision/decide.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { LedgerEntry } from './spending/ledger-entry.ts';
import { Spending } from './spending/spending.ts';

interface Planned {
  readonly decided: DecidedRequest;
  readonly route: Route | undefined;
  /** The targets that may be tried. */
  readonly targets: readonly Target[];
}

/**
 * Reserves the most that an exchange may use and enters it in the ledger, before anything is sent; `settle` returns the
 * rest. Throws limit.requests, .tokens, .concurrency, .budget, and limit.state_unavailable if a budget needs what can't
 * be counted or written.
 */
export async function reserve(
  exchange: Exchange,
  { limiterFor, ledger }: Pick<Gateway, 'limiterFor' | 'ledger'>,
  { decided: { request, endpoint, key }, route, targets }: Planned,
): Promise<void> {
  const spending = new Spending({ request, endpoint, route, targets });
  exchange.spending = spending;
  const limiter = limiterFor(key);
  if (limiter !== undefined) await spending.reserve(limiter, exchange.startedMs);
  if (ledger === undefined || !spending.isCharged) return;
  const { id: requestId, startedMs, draft } = exchange;
  const { endpoint: name = '', model = '' } = draft.soFar;
  const { project, id: keyId } = key;
  const entry = new LedgerEntry(ledger, {
    requestId,
    startedMs,
    project,
    keyId,
    endpoint: name,
    model,
  });
  await entry.begin(spending, { isRequired: limiter?.hasBudget === true });
  exchange.entry = entry;
}

/**
 * Settles what the exchange used and enters it in the ledger, once: before the last byte of the answer leaves, so that
 * nothing a client has got can be lost. Returns a promise, which never rejects, if that byte must wait.
 */
export function settle(exchange: Exchange): Promise<void> | undefined {
  const { spending, draft, outcome, entry, failure: error, status } = exchange;
  if (spending === undefined || spending.isSettled) return undefined;
  const spent = spending.settle(outcome);
  draft.noteSpent(spent, spending.reservation?.wouldRefuse ?? []);
  return entry?.finish(draft, { status, error, spent });
}
