import { stateUnavailable } from '../limits/counters.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import type { Intent } from '../record/ledger/ledger-row.ts';
import type { ExchangeRecord } from '../record/record.ts';
import type { Spending, Spent } from './spending/spending.ts';

/** The ledger entry of one exchange: an intent before the provider is called, a row afterwards. */
export class LedgerEntry {
  readonly #ledger: Ledger;
  readonly #intent: Intent;

  constructor(ledger: Ledger, intent: Intent) {
    this.#ledger = ledger;
    this.#intent = intent;
  }

  /**
   * Resolves when the intent is on disk. If the ledger can't be written, an exchange under a budget is refused
   * (limit.state_unavailable), because what it spent would be unknown after a restart. Any other continues, without
   * waiting while the ledger is known to be failing.
   */
  async begin({ isRequired }: { readonly isRequired: boolean }): Promise<void> {
    const begun = this.#ledger.begin(this.#intent);
    try {
      if (isRequired || this.#ledger.gauges.isWritable) await begun;
      else begun.catch(() => undefined);
    } catch (cause) {
      if (!isRequired) return;
      this.#ledger.cancel(this.#intent.requestId);
      throw stateUnavailable('the ledger cannot be written, and this key has a budget; try again soon', {
        cause,
      });
    }
  }

  finish(record: ExchangeRecord, { usage, nanoUsd }: Spent): void {
    const { status, outcome, provider, target_model, decision, reason, first_byte_ms, total_ms } = record;
    const { requestId, startedMs, project, keyId, endpoint, model } = this.#intent;
    // Members are spelled out because V8 takes a slow path for each one added to a spread object.
    this.#ledger.finish({
      requestId,
      startedMs,
      project,
      keyId,
      endpoint,
      model,
      provider: provider ?? null,
      targetModel: target_model ?? null,
      status,
      outcome,
      decision: decision ?? null,
      reason: reason ?? null,
      inputTokens: usage?.inputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      cacheReadTokens: usage?.cacheReadTokens ?? 0,
      cacheWriteTokens: usage?.cacheWriteTokens ?? 0,
      reasoningTokens: usage?.reasoningTokens ?? 0,
      // No usage costs nothing, even if the price is unknown.
      nanoUsd: usage === undefined ? 0 : (nanoUsd ?? null),
      isEstimated: usage?.isEstimated === true,
      firstByteMs: first_byte_ms ?? null,
      totalMs: total_ms,
    });
  }
}

/** What is written before the call; undefined for requests that no provider charges for. */
export function toIntent(
  spending: Spending,
  facts: Pick<Intent, 'requestId' | 'startedMs' | 'project' | 'keyId' | 'endpoint' | 'model'>,
): Intent | undefined {
  if (!spending.isCharged) return undefined;
  const { inputTokens, outputTokens, nanoUsd } = spending.worst();
  const { requestId, startedMs, project, keyId, endpoint, model } = facts;
  return {
    requestId,
    startedMs,
    project,
    keyId,
    endpoint,
    model,
    inputTokens,
    outputTokens,
    nanoUsd: nanoUsd ?? null,
  };
}
