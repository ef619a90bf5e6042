import type { GatewayError } from '../../errors.ts';
import { stateUnavailable } from '../../limits/counters.ts';
import type { Ledger } from '../../record/ledger/ledger.ts';
import type { Intent } from '../../record/ledger/ledger-row.ts';
import { outcomeOf, type RecordDraft } from '../record-draft.ts';
import type { Spending, Spent } from './spending.ts';

type Facts = Pick<Intent, 'requestId' | 'startedMs' | 'project' | 'keyId' | 'endpoint' | 'model'>;

interface Ended {
  readonly status: number;
  readonly error: GatewayError | undefined;
  readonly spent: Spent;
}

/** The ledger entry of one exchange: its beginning where a budget needs that, and its end. */
export class LedgerEntry {
  readonly #ledger: Ledger;
  readonly #facts: Facts;

  constructor(ledger: Ledger, facts: Facts) {
    this.#ledger = ledger;
    this.#facts = facts;
  }

  /**
   * Enters the most that the exchange can use, before the provider is called; a promise only if the disk has to be waited
   * for. If it can't be written, an exchange under a budget is refused (limit.state_unavailable), because what it spent
   * would be unknown after a restart. Any other continues, without waiting while the journal is known to fail.
   */
  begin(spending: Spending, { isRequired }: { readonly isRequired: boolean }): Promise<void> | undefined {
    if (!isRequired && !this.#ledger.isSynced) return undefined;
    const { inputTokens, outputTokens, nanoUsd = null } = spending.worst();
    const { requestId, startedMs, project, keyId, endpoint, model } = this.#facts;
    const begun = this.#ledger.begin({
      requestId,
      startedMs,
      project,
      keyId,
      endpoint,
      model,
      inputTokens,
      outputTokens,
      nanoUsd,
    });
    if (begun === undefined) return undefined;
    if (isRequired) return begun.catch(refuse);
    const written = begun.catch(() => undefined);
    return this.#ledger.gauges.isWritable ? written : undefined;
  }

  /** A promise, which never rejects, if the end of the answer must wait until this is written. */
  finish(draft: RecordDraft, { status, error, spent }: Ended): Promise<void> | undefined {
    const { provider, target_model, decision, first_byte_ms } = draft.soFar;
    const { usage, nanoUsd } = spent;
    const { requestId, startedMs, project, keyId, endpoint, model } = this.#facts;
    // Members are spelled out because V8 takes a slow path for each one added to a spread object.
    return this.#ledger.finish({
      requestId,
      startedMs,
      project,
      keyId,
      endpoint,
      model,
      provider: provider ?? null,
      targetModel: target_model ?? null,
      status,
      outcome: outcomeOf(error),
      decision: decision ?? null,
      reason: error?.reason ?? null,
      inputTokens: usage?.inputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      cacheReadTokens: usage?.cacheReadTokens ?? 0,
      cacheWriteTokens: usage?.cacheWriteTokens ?? 0,
      reasoningTokens: usage?.reasoningTokens ?? 0,
      // No usage costs nothing, even if the price is unknown.
      nanoUsd: usage === undefined ? 0 : (nanoUsd ?? null),
      isEstimated: usage?.isEstimated === true,
      firstByteMs: first_byte_ms ?? null,
      totalMs: draft.elapsedMs,
    });
  }
}

function refuse(cause: unknown): never {
  throw stateUnavailable('the ledger cannot be written, and this key has a budget; try again soon', {
    cause,
  });
}
