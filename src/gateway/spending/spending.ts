import { createHash } from 'node:crypto';
import { buildLimits, type KeyLimits } from '../../config/build/keys.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { mostExpansion } from '../../dialects/translation/references.ts';
import { noUsage, type Usage } from '../../dialects/usage.ts';
import { GatewayError } from '../../errors.ts';
import type { Run } from '../../lib/run-key.ts';
import { type Amounts, noAmounts, stateUnavailable } from '../../limits/counters.ts';
import { listPrice, mostImageTokens } from '../../limits/known-models.ts';
import type {
  Limiter,
  LimitState,
  RequestIdentity,
  Reservation,
  ReserveOptions,
} from '../../limits/limiter.ts';
import { costOf, newTokensOf, type Price, worstCostOf } from '../../limits/price.ts';
import { tokensOf } from '../../policy/traverse/worst-input.ts';
import type { AbandonedAttempt, Attempt } from '../../providers/attempt.ts';
import { labelOf } from '../../providers/provider.ts';
import type { Target } from '../../providers/route.ts';
import type { Ledger, LedgerEntry } from '../../record/ledger/ledger.ts';
import type { Intent, LedgerRow } from '../../record/ledger/ledger-row.ts';
import type { ExchangeRecord, Outcome } from '../../record/record.ts';
import { dialectAtTarget, type ModelEndpoint } from '../endpoints.ts';
import type { ModelRequest } from '../request.ts';
import type { RoutedRequest } from '../route.ts';
import type { Decided, ReadAnswer, SeenAnswer, SentRequest, Subscriber } from '../subscriber.ts';
import { type Demand, findAskedModes, findDemand, maxOutputAt, mayReason } from './demand.ts';

/** What is known of an exchange besides what it spends. */
interface SpendingExchange {
  readonly id: string;
  readonly startedMs: number;
  readonly status: number;
  readonly record: {
    readonly soFar: Partial<ExchangeRecord>;
    readonly outcome: Outcome;
    readonly failure: GatewayError | undefined;
    readonly elapsedMs: number;
    noteSpent(spent: Spent, wouldRefuse: readonly string[]): void;
  };
}

interface SpendingParts {
  /** The limits of the key and its project, and of the runs that the request belongs to; undefined if there are none. */
  readonly limiter: Limiter | undefined;
  /** The client's body; undefined if repetition isn't limited. */
  readonly sent: SentBody | undefined;
  /** Undefined if no ledger is kept. */
  readonly ledger: Ledger | undefined;
}

/** A client's body, as far as it tells whether two requests are equal. */
interface SentBody {
  readonly digest: string;
  readonly bytes: number;
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
  /** Its end; undefined before it is entered. */
  #entry: LedgerEntry | undefined;
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
  reserve(routed: RoutedRequest, parts: SpendingParts): Promise<void> | undefined {
    const { limiter, ledger } = parts;
    const spending = new Spending(routed);
    this.#spending = spending;
    if (limiter !== undefined || ledger?.isSynced === true) return this.#reserveWith(spending, routed, parts);
    if (spending.isCharged) this.#ledger = ledger;
    return undefined;
  }

  async #reserveWith(
    spending: Spending,
    routed: RoutedRequest,
    { limiter, sent, ledger }: SpendingParts,
  ): Promise<void> {
    const session = this.#session;
    if (limiter !== undefined) {
      const ofKey = session === undefined ? undefined : { key: routed.decided.key.id, session };
      const identify = sent && (() => identityOf(routed, sent, session));
      await spending.reserve(limiter, this.#exchange.startedMs, { session: ofKey, identify });
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

  /** Settles what the exchange used and enters it in the ledger. Called once, at its end. */
  settle(): void {
    const spending = this.#spending;
    if (spending === undefined) return;
    // When the process ends during an attempt, the target may have the request.
    const wasAccepted = this.#wasAccepted || this.#isPending;
    const spent = spending.settle({ target: this.#target, wasAccepted, answer: this.#answer });
    this.#exchange.record.noteSpent(spent, spending.reservation?.wouldRefuse ?? []);
    this.#entry = this.#ledger?.finish(this.#rowOf(spent));
  }

  /** Writes that to the ledger. Returns a promise, which never rejects, if its last byte must wait. */
  commit(): Promise<void> | undefined {
    return this.#entry?.write();
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

/** To be called before the policies decide: afterwards the body's memory may be another thread's, and its length 0. */
export function identifyBody(body: Buffer): SentBody {
  return { digest: createHash('sha256').update(body).digest('base64url'), bytes: body.length };
}

/** Equal requests have one digest, unless they are of different keys or sessions. */
function identityOf(
  { decided }: RoutedRequest,
  sent: SentBody,
  session: string | undefined,
): RequestIdentity {
  const { key, endpoint, request } = decided;
  const { model, stream } = request;
  // Neither a name nor a path has a zero byte.
  const parts = [key.id, session ?? '', endpoint.path, model, String(stream), sent.digest];
  const digest = createHash('sha256').update(parts.join('\0')).digest('base64url');
  const where = session === undefined ? '' : ` of session ${session}`;
  return { digest, words: `this request${where} to ${model} (${sent.bytes} bytes)` };
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

/** What became of an exchange at its last target, as far as it says what was used. */
interface LastAttempt {
  /** Undefined if nothing was sent. */
  readonly target: Target | undefined;
  /** Whether the target may have worked on the request. */
  readonly wasAccepted: boolean;
  /** Undefined if nothing of an answer could be read. */
  readonly answer: SeenAnswer | undefined;
}

export interface Spent {
  readonly usage: Usage | undefined;
  /** Input and output, what was read from a cache by its price. */
  readonly newTokens: number;
  /** Undefined if no price is known. */
  readonly nanoUsd: number | undefined;
}

/** The most that an exchange may use. */
interface Worst {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Undefined if no price is known. */
  readonly nanoUsd: number | undefined;
}

const free: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** For a model whose context window is unknown. */
const unknownWindow = 1_048_576;

/** The most that one exchange may use, and what it did use. */
class Spending {
  /** Whether tokens or money are limited, so that their usage must be known. */
  isLimited = false;
  reservation: Reservation | undefined;
  readonly #request: ModelRequest;
  readonly #endpoint: ModelEndpoint;
  /** The worst case is that of the most expensive, and of the one with the longest answers. */
  readonly #targets: readonly Target[];
  #worst: Worst | undefined;
  #found: Demand | undefined;

  constructor({ decided, targets }: RoutedRequest) {
    this.#request = decided.request;
    this.#endpoint = decided.endpoint;
    this.#targets = targets;
  }

  /** Whose SDK reads the rate-limit headers. */
  get dialect(): Dialect {
    return this.#endpoint.dialect;
  }

  /** Reserves the worst case. Throws limit.requests, .tokens, .concurrency, .repeated, .budget and .state_unavailable. */
  async reserve(
    limiter: Limiter,
    nowMs: number,
    options: Pick<ReserveOptions, 'session' | 'identify'>,
  ): Promise<void> {
    this.isLimited = limiter.needsAmounts;
    this.reservation = await limiter.reserve(this.#worstCase(limiter), nowMs, {
      ...options,
      advice: () => this.#advice(),
    });
  }

  /** Whether the provider charges for the request. */
  get isCharged(): boolean {
    return this.#endpoint.kind !== 'count';
  }

  /** The most that the exchange can use, whichever of its targets answers. */
  worst(): Worst {
    this.#worst ??= this.#findWorst();
    return this.#worst;
  }

  /** What the exchange used: settles it, and returns the rest of the reservation. Called once, when it is over. */
  settle({ target, wasAccepted, answer }: LastAttempt): Spent {
    if (target === undefined) {
      this.reservation?.settle(noAmounts);
      return { ...unspent, nanoUsd: undefined };
    }
    const spent = this.isCharged && wasAccepted ? this.#spentAt(target, answer) : unspent;
    const { usage = noUsage, newTokens, nanoUsd = 0 } = spent;
    const tokens = usage.inputTokens + usage.outputTokens;
    this.reservation?.settle({ requests: 1, tokens, newTokens, nanoUsd });
    // A budget counts what is known; what is recorded is right, or none.
    return this.#isOfListPrice(target, usage) ? spent : { ...spent, nanoUsd: undefined };
  }

  /** Whether the known price holds for how the request was processed. */
  #isOfListPrice(target: Target, { surcharge, plainModes = [] }: Usage): boolean {
    const { provider } = target;
    if (provider.options.dialect === 'sandbox' || this.#configuredPrice(target) !== undefined) return true;
    if (this.#priceOf(target) === undefined || !this.isCharged) return true;
    if (surcharge !== undefined) return false;
    const { document, askedModes = findAskedModes(document) } = this.#request;
    return askedModes.every((mode) => plainModes.includes(mode));
  }

  #worstCase(limiter: Limiter): Amounts {
    if (!limiter.needsAmounts || this.#endpoint.kind === 'count') return { ...noAmounts, requests: 1 };
    const isUnpriced = (each: Target) => !each.provider.takesLogin && this.#priceOf(each) === undefined;
    if (limiter.needsPrice && this.#targets.some(isUnpriced)) {
      throw unpriced(this.#request.model);
    }
    const mode = limiter.needsPrice ? this.#surchargedMode() : undefined;
    if (mode !== undefined) throw unpriced(`${this.#request.model} with ${mode}`);
    const { inputTokens, outputTokens, nanoUsd = 0 } = this.worst();
    const tokens = inputTokens + outputTokens;
    return { requests: 1, tokens, newTokens: tokens, nanoUsd };
  }

  /** How a request can need less: coding agents ask for far more output than they use. */
  #advice(): string {
    const { dialect, kind } = this.#endpoint;
    if (kind === 'count') return '';
    const { inputTokens, outputTokens } = this.worst();
    if (this.#demand.remote.hasOther && inputTokens > outputTokens)
      return `; what it names and doesn't contain counts as all that the model can read, ${inputTokens} tokens: send the content itself, or set models[].context_window`;
    const least = outputTokens / this.#demand.output.answers;
    return outputTokens === 0 ? '' : `; a ${dialect.caps[0]} below ${least} needs less`;
  }

  /** What the client asks for that costs more than the known prices; undefined where the configuration has its own. */
  #surchargedMode(): string | undefined {
    const hasListPrice = (target: Target) =>
      !target.provider.takesLogin &&
      this.#configuredPrice(target) === undefined &&
      this.#priceOf(target) !== free;
    if (!this.#targets.some(hasListPrice)) return undefined;
    return this.#demand.surcharge ?? this.#demand.fees.unpriced;
  }

  /** As far as it can be known in advance. */
  #findWorst(): Worst {
    const { inputTokens: writtenTokens, remote, fees } = this.#demand;
    const { images, hasOther } = remote;
    const { searches } = fees;
    let inputTokens = writtenTokens;
    let outputTokens = 0;
    let nanoUsd: number | undefined;
    for (const target of this.#targets) {
      const named =
        writtenTokens + this.#addedTokensAt(target) + images * (target.known?.imageTokens ?? mostImageTokens);
      const input = hasOther ? Math.max(named, this.#windowOf(target)) : named;
      const output = this.#maxOutputAt(target);
      inputTokens = Math.max(inputTokens, input);
      outputTokens = Math.max(outputTokens, output);
      const price = this.#priceOf(target);
      if (price === undefined) continue;
      nanoUsd = Math.max(nanoUsd ?? 0, worstCostOf({ input, output, searches }, price));
    }
    return { inputTokens, outputTokens, nanoUsd };
  }

  /** What the body for a target may have besides the client's: schemas whose references are written out. */
  #addedTokensAt(target: Target): number {
    const { document } = this.#request;
    const isExpanded =
      dialectAtTarget(target, this.#endpoint) === 'chat' &&
      this.#endpoint.dialectName !== 'chat' &&
      target.provider.traitsFor(target.model).schemas === 'google';
    const tools = isExpanded ? document.member(document.root, 'tools') : undefined;
    if (tools === undefined || !document.raw(tools).includes('$ref')) return 0;
    return tokensOf(mostExpansion(document.raw(tools).length));
  }

  get #demand(): Demand {
    this.#found ??= this.#request.demand ?? findDemand(this.#request.document, this.#endpoint);
    return this.#found;
  }

  /** The most input tokens that a target can read. */
  #windowOf(target: Target): number {
    const { known, entry } = target;
    const own = this.#isEntrysOwn(target) ? entry.contextWindow : undefined;
    return own ?? known?.contextWindow ?? unknownWindow;
  }

  /** The most output tokens that a target can write for the request. */
  #maxOutputAt(target: Target): number {
    return maxOutputAt(target, {
      endpoint: this.#endpoint,
      cap: this.#demand.output,
      maxOutputTokens: target.entry.maxOutputTokens,
      isOwn: this.#isEntrysOwn(target),
    });
  }

  #priceOf(target: Target): Price | undefined {
    const { provider, model, known } = target;
    const configured = this.#configuredPrice(target);
    if (configured !== undefined) return configured;
    if (provider.takesLogin) return undefined;
    if (provider.options.dialect === 'sandbox') return free;
    const { priceScope: scope, isLocal } = provider;
    if (scope === 'unlisted') return undefined;
    // A model by a vendor's name on this machine may be a proxy's, which costs what the vendor's does.
    const isRegional = scope === 'regional';
    const listed = listPrice(known, { name: model, isRegional, nowMs: Date.now() });
    return listed ?? (isLocal ? free : undefined);
  }

  #configuredPrice(target: Target): Price | undefined {
    return this.#isEntrysOwn(target) ? target.entry.pricing : undefined;
  }

  /**
   * Whether what the entry says of its model holds for this one: it is the same, wherever it is served, or nothing else
   * is known of it. Fallbacks may be other models.
   */
  #isEntrysOwn({ model, known, entry }: Target): boolean {
    const own = entry.targets[0].model ?? this.#request.model;
    return model === own || known === undefined;
  }

  /** What a target used that may have worked on the request: what it reported if that is all of it, else an estimate. */
  #spentAt(target: Target, answer: SeenAnswer | undefined): Spent {
    const price = this.#priceOf(target);
    const reported = answer === undefined ? undefined : finalUsage(answer);
    if (reported !== undefined) {
      const newTokens = newTokensOf(reported, price);
      return { usage: reported, newTokens, nanoUsd: price && costOf(reported, price) };
    }
    const { usage: { isPartial: _, ...known } = noUsage, unreportedTokens = 0 } = answer?.tally ?? {};
    const seenTokens = known.outputTokens + unreportedTokens;
    const outputTokens = this.#mayBeHidden(target, answer)
      ? Math.max(seenTokens, this.#maxOutputAt(target))
      : seenTokens;
    // Where nothing is limited, what was written is the better estimate, and what is only named may be small.
    const inputTokens =
      known.inputTokens || (this.isLimited ? this.worst().inputTokens : this.#demand.inputTokens);
    const searches = Math.max(known.searches ?? 0, this.#demand.fees.searches);
    const usage: Usage = {
      ...known,
      inputTokens,
      outputTokens,
      ...(searches > 0 && { searches }),
      isEstimated: true,
    };
    const cost = (at: Price) =>
      known.inputTokens > 0
        ? costOf(usage, at)
        : worstCostOf({ input: inputTokens, output: outputTokens, searches }, at);
    return { usage, newTokens: newTokensOf(usage, price), nanoUsd: price && cost(price) };
  }

  /** Whether the target may have written more than was seen. */
  #mayBeHidden(target: Target, answer: SeenAnswer | undefined): boolean {
    if (answer === undefined) return true;
    const { usage, unreportedTokens } = answer.tally;
    // Its text may be on the way.
    const isSilent = unreportedTokens === 0 && (usage === undefined || usage.isPartial === true);
    if (answer.extent !== 'whole' && isSilent) return true;
    // Where nothing is limited, what was seen is the better estimate.
    if (!this.isLimited) return false;
    return answer.extent === 'unread' || mayReason(this.#demand.asksToReason, target);
  }
}

const unspent: Spent = { usage: undefined, newTokens: 0, nanoUsd: 0 };

/** The usage that the provider reported, if nothing is missing in it: neither a count nor what was written later. */
function finalUsage({ tally: { usage, unreportedTokens }, extent }: SeenAnswer): Usage | undefined {
  if (usage === undefined || usage.isPartial === true || usage.inputTokens === 0) return undefined;
  return extent === 'whole' && unreportedTokens === 0 ? usage : undefined;
}

function unpriced(model: string): GatewayError {
  const message = `no price is known for ${model}, and its budget is in US$: "gateway models update FILE" takes over newer prices, models[].pricing sets one, and unpriced: allow beside the budget lets it pass`;
  return new GatewayError('limit.budget', message, { param: '/model' });
}
