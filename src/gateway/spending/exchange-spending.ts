import { createHash } from 'node:crypto';
import { buildLimits, type KeyLimits, type KeyRecord } from '../../config/build/keys.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Run } from '../../lib/run-key.ts';
import { stateUnavailable } from '../../limits/counters.ts';
import type { Limiter, LimitState, RequestIdentity } from '../../limits/limiter.ts';
import type { AbandonedAttempt, Attempt } from '../../providers/attempt.ts';
import { labelOf } from '../../providers/provider.ts';
import type { Target } from '../../providers/route.ts';
import type { Ledger } from '../../record/ledger/ledger.ts';
import type { Intent, LedgerRow } from '../../record/ledger/ledger-row.ts';
import type { RecordDraft } from '../record-draft.ts';
import type { RoutedRequest } from '../route.ts';
import type { Decided, ReadAnswer, SeenAnswer, SentRequest, Subscriber } from '../subscriber.ts';
import { Spending, type Spent } from './spending.ts';

/** What is known of an exchange besides what it spends. */
interface SpendingExchange {
  readonly id: string;
  readonly startedMs: number;
  readonly status: number;
  readonly record: RecordDraft;
}

interface SpendingParts {
  /** The limits of a key and its project, and of runs of the key; undefined if there are none. */
  readonly limiterFor: (key: KeyRecord, ofRuns?: readonly KeyLimits[]) => Limiter | undefined;
  /** Undefined if no ledger is kept. */
  readonly ledger: Ledger | undefined;
}

interface ClientRequest {
  /** As the client sent it. */
  readonly body: Buffer;
  /** What the runs that the request belongs to may use. */
  readonly ofRuns: readonly KeyLimits[];
}

/**
 * What an exchange may use, reserved before anything is sent, and what it did use. A provider that may have worked on the
 * request is the last one that is asked, so earlier targets cost nothing.
 */
export class ExchangeSpending implements Subscriber {
  readonly #exchange: SpendingExchange;
  /** Undefined before it is reserved. */
  #spending: Spending | undefined;
  /** Where its end is entered; undefined if it is in no ledger. */
  #ledger: Ledger | undefined;
  #target: Target | undefined;
  /** Whether the last target may have worked on the request: it answered 2xx, or it has the request and said nothing. */
  #wasAccepted = false;
  /** Whether the last attempt has neither an answer nor a failure yet. */
  #isPending = false;
  /** Undefined if nothing of an answer could be read. */
  #answer: SeenAnswer | undefined;
  /** What its session is counted by. */
  #session: string | undefined;

  constructor(exchange: SpendingExchange) {
    this.#exchange = exchange;
  }

  /** Whether tokens or money are limited, so that their usage must be known. */
  get isLimited(): boolean {
    return this.#spending?.isLimited === true;
  }

  /** The limits that the request counts against, and whose SDK reads them; undefined before it is reserved. */
  get limits():
    | { readonly states: readonly LimitState[] | undefined; readonly dialect: Dialect }
    | undefined {
    const spending = this.#spending;
    return spending && { states: spending.reservation?.states, dialect: spending.dialect };
  }

  /**
   * Reserves the most that the exchange may use and enters it in the ledger, before anything is sent; `settle` returns the
   * rest. Throws limit.requests, .tokens, .concurrency, .repeated, .budget, and limit.state_unavailable if a budget needs
   * what can't be counted or written.
   */
  async reserve(
    routed: RoutedRequest,
    { body, ofRuns }: ClientRequest,
    { limiterFor, ledger }: SpendingParts,
  ): Promise<void> {
    const spending = new Spending(routed);
    this.#spending = spending;
    const limiter = limiterFor(routed.decided.key, ofRuns);
    const { startedMs } = this.#exchange;
    const session = this.#session;
    if (limiter !== undefined) {
      const ofKey = session === undefined ? undefined : { key: routed.decided.key.id, session };
      const identify = () => identityOf(routed, body, session);
      await spending.reserve(limiter, startedMs, { session: ofKey, identify });
    }
    if (ledger === undefined || !spending.isCharged) return;
    const isRequired = limiter?.hasBudget === true;
    if (isRequired || ledger.isSynced) await this.#begin(ledger, { spending, isRequired });
    this.#ledger = ledger;
  }

  /** A session that may not be shown is counted by a digest: what rules object to is in no record, and has its limits. */
  decided({ sender: { session }, shownSender }: Decided): void {
    this.#session =
      session === undefined || shownSender.session === session
        ? session
        : `hidden-${createHash('sha256').update(session).digest('hex').slice(0, 16)}`;
  }

  sending({ target }: SentRequest): void {
    this.#target = target;
    this.#wasAccepted = false;
    this.#isPending = true;
  }

  attemptEnded(attempt: Attempt | AbandonedAttempt): void {
    this.#wasAccepted = mayHaveWorked(attempt);
    this.#isPending = false;
  }

  answerRead({ seen }: ReadAnswer): void {
    if (seen !== undefined) this.#answer = seen;
  }

  /**
   * Settles what the exchange used and enters it in the ledger. Called once, at its end. Returns a promise, which never
   * rejects, if its last byte must wait.
   */
  settle(): Promise<void> | undefined {
    const spending = this.#spending;
    if (spending === undefined) return undefined;
    // When the process ends during an attempt, the target may have the request.
    const wasAccepted = this.#wasAccepted || this.#isPending;
    const spent = spending.settle({ target: this.#target, wasAccepted, answer: this.#answer });
    this.#exchange.record.noteSpent(spent, spending.reservation?.wouldRefuse ?? []);
    return this.#ledger?.finish(this.#rowOf(spent));
  }

  /**
   * Enters the most that the exchange can use. If it can't be written, an exchange under a budget is refused
   * (limit.state_unavailable), because what it spent would be unknown after a restart. Any other continues, without waiting
   * while the journal is known to fail.
   */
  async #begin(
    ledger: Ledger,
    { spending, isRequired }: { readonly spending: Spending; readonly isRequired: boolean },
  ): Promise<void> {
    const { inputTokens: input_tokens, outputTokens: output_tokens, nanoUsd } = spending.worst();
    const begun = ledger.begin({
      ...this.#beginning(),
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

  #rowOf({ usage, newTokens, nanoUsd }: Spent): LedgerRow {
    const { status, record } = this.#exchange;
    const { request_id, started_ms, project, key_id, endpoint, model, session, agent, subagent, parent } =
      this.#beginning();
    const { provider: name, provider_key: keyName } = record.soFar;
    const { target_model = null, decision = null, first_byte_ms = null } = record.soFar;
    const provider = name === undefined ? null : labelOf({ name, ...(keyName !== undefined && { keyName }) });
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
      parent,
      provider,
      target_model,
      status,
      outcome: record.outcome,
      decision,
      reason: record.failure?.reason ?? null,
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
      total_ms: record.elapsedMs,
    };
  }

  /** What both lines of an exchange say of it: its end counts by the same names and time as its beginning. */
  #beginning() {
    const { id, startedMs, record } = this.#exchange;
    const { project = '', key = '', endpoint = '', model = '' } = record.soFar;
    const { session = null, agent = null, subagent = null, parent = null } = record.soFar;
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
      parent,
    } satisfies Partial<Intent>;
  }
}

/** Equal requests have one digest, unless they are of different keys or sessions. */
function identityOf({ decided }: RoutedRequest, body: Buffer, session: string | undefined): RequestIdentity {
  const { key, endpoint, request } = decided;
  const { model, stream } = request;
  // Neither a name nor a path has a zero byte.
  const owner = [key.id, session ?? '', endpoint.path, model, String(stream), ''].join('\0');
  const digest = createHash('sha256').update(owner).update(body).digest('base64url');
  const where = session === undefined ? '' : ` of session ${session}`;
  return { digest, words: `this request${where} to ${model} (${body.length} bytes)` };
}

function mayHaveWorked(attempt: Attempt | AbandonedAttempt): boolean {
  switch (attempt.kind) {
    case 'answered':
      return attempt.forwarded.answer.status >= 200 && attempt.forwarded.answer.status < 300;
    case 'failed':
      return attempt.failure.wasSent;
    case 'abandoned':
      return attempt.wasSent;
  }
}

/** What `gateway run --budget` and `--requests` allow the runs that a request belongs to, beside the limits of its key. */
export function runLimits(runs: readonly Run[], key: string): readonly KeyLimits[] {
  return runs
    .filter(({ budget, requests }) => budget !== undefined || requests !== undefined)
    .map(({ id, budget, requests }) => {
      const limits = buildLimits('key', key, {
        ...(budget !== undefined && { usd_per_session: budget }),
        ...(requests !== undefined && { requests_per_session: requests }),
        mode: 'enforce',
        unpriced: 'refuse',
        time_zone: 'UTC',
      });
      return { ...limits, run: id };
    });
}
