import { stateUnavailable } from '../limits/counters.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import type { Intent, LedgerRow } from '../record/ledger/ledger-row.ts';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { outcomeOf } from './record-draft.ts';
import type { RoutedRequest } from './route.ts';
import { Spending, type Spent } from './spending/spending.ts';

/**
 * Reserves the most that an exchange may use and enters it in the ledger, before anything is sent; `settle` returns the
 * rest. Throws limit.requests, .tokens, .concurrency, .budget, and limit.state_unavailable if a budget needs what can't
 * be counted or written.
 */
export async function reserve(
  exchange: Exchange,
  { limiterFor, ledger }: Pick<Gateway, 'limiterFor' | 'ledger'>,
  routed: RoutedRequest,
): Promise<void> {
  const spending = new Spending(routed);
  exchange.spending = spending;
  const limiter = limiterFor(routed.decided.key);
  const { session } = exchange.draft.soFar;
  const ofKey = session === undefined ? undefined : { key: routed.decided.key.id, session };
  if (limiter !== undefined) await spending.reserve(limiter, exchange.startedMs, ofKey);
  if (ledger === undefined || !spending.isCharged) return;
  const isRequired = limiter?.hasBudget === true;
  if (isRequired || ledger.isSynced) await begin(exchange, ledger, { spending, isRequired });
  exchange.ledger = ledger;
}

/**
 * Enters the most that the exchange can use. If it can't be written, an exchange under a budget is refused
 * (limit.state_unavailable), because what it spent would be unknown after a restart. Any other continues, without waiting
 * while the journal is known to fail.
 */
async function begin(
  exchange: Exchange,
  ledger: Ledger,
  { spending, isRequired }: { readonly spending: Spending; readonly isRequired: boolean },
): Promise<void> {
  const { inputTokens: input_tokens, outputTokens: output_tokens, nanoUsd } = spending.worst();
  const begun = ledger.begin({
    ...factsOf(exchange),
    input_tokens,
    output_tokens,
    nano_usd: nanoUsd ?? null,
  });
  if (begun === undefined) return;
  const written = begun.catch((cause: unknown) => {
    if (!isRequired) return;
    const message = 'the ledger cannot be written, and this key has a budget; try again soon';
    throw stateUnavailable(message, { cause });
  });
  if (isRequired || ledger.gauges.isWritable) await written;
}

/**
 * Settles what the exchange used and enters it in the ledger, once: before the last byte of the answer leaves, so that
 * nothing a client has got can be lost. Returns a promise, which never rejects, if that byte must wait.
 */
export function settle(exchange: Exchange): Promise<void> | undefined {
  const { spending, draft, outcome, ledger } = exchange;
  if (spending === undefined || spending.isSettled) return undefined;
  const spent = spending.settle(outcome);
  draft.noteSpent(spent, spending.reservation?.wouldRefuse ?? []);
  return ledger?.finish(rowOf(exchange, spent));
}

function rowOf(exchange: Exchange, { usage, newTokens, nanoUsd }: Spent): LedgerRow {
  const { draft, status, failure } = exchange;
  const { request_id, started_ms, project, key_id, endpoint, model, session, agent, subagent } =
    factsOf(exchange);
  const { provider = null, target_model = null, decision = null, first_byte_ms = null } = draft.soFar;
  // Members are spelled out because V8 takes a slow path for each one added to a spread object.
  return {
    request_id,
    started_ms,
    project,
    key_id,
    endpoint,
    model,
    session,
    agent,
    subagent,
    provider,
    target_model,
    status,
    outcome: outcomeOf(failure),
    decision,
    reason: failure?.reason ?? null,
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    cache_read_tokens: usage?.cacheReadTokens ?? 0,
    cache_write_tokens: usage?.cacheWriteTokens ?? 0,
    reasoning_tokens: usage?.reasoningTokens ?? 0,
    new_tokens: newTokens,
    // No usage costs nothing, even if the price is unknown.
    nano_usd: usage === undefined ? 0 : (nanoUsd ?? null),
    is_estimated: usage?.isEstimated === true ? 1 : 0,
    first_byte_ms,
    total_ms: draft.elapsedMs,
  };
}

/** What both lines of an exchange say of it: its end counts by the same names and time as its beginning. */
function factsOf({ id, startedMs, draft }: Exchange) {
  const { project = '', key = '', endpoint = '', model = '' } = draft.soFar;
  const { session = null, agent = null, subagent = null } = draft.soFar;
  return {
    request_id: id,
    started_ms: startedMs,
    project,
    key_id: key,
    endpoint,
    model,
    session,
    agent,
    subagent,
  } satisfies Partial<Intent>;
}
