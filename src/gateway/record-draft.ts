import type { KeyRecord } from '../config/build/keys.ts';
import { toUsageFields } from '../dialects/usage.ts';
import type { GatewayError } from '../errors.ts';
import { messageOf } from '../lib/message-of.ts';
import { nanoUsdPerUsd } from '../limits/price.ts';
import { type Action, actions, type Decision, type Verdict, withholds } from '../policy/rule.ts';
import type { Target } from '../providers/route.ts';
import type { ExchangeRecord, Outcome } from '../record/record.ts';
import type { Sender } from './sender.ts';
import type { Spent } from './spending/spending.ts';

type Draft = { -readonly [Field in keyof ExchangeRecord]?: ExchangeRecord[Field] | undefined };
type PlainField = 'method' | 'path' | 'model' | 'stream' | 'bytes_in' | 'bytes_out' | 'request_body';
type Plain = Pick<Draft, PlainField | 'masked' | 'restored' | 'broken_placeholders'>;
type RecordedRule = NonNullable<ExchangeRecord['rules']>[number];

/** What the record says about a request to a provider. */
interface SentRequest {
  readonly form: string;
  /** Fields and headers that were left out. */
  readonly dropped: readonly string[];
}

/** The record of an exchange while it is open: each step adds what it has found out, and nothing else writes to it. */
export class RecordDraft {
  // The usual fields exist from the start, because each added field would change the object's hidden class.
  readonly #fields: Draft;
  /** By `performance.now()`. */
  readonly startedAt = performance.now();

  constructor(requestId: string, time: string) {
    this.#fields = {
      time,
      request_id: requestId,
      method: '',
      path: '',
      endpoint: undefined,
      project: undefined,
      key: undefined,
      agent: undefined,
      session: undefined,
      model: undefined,
      provider: undefined,
      target_model: undefined,
      stream: undefined,
      status: 0,
      outcome: 'answered',
      decision: undefined,
      policy_us: undefined,
      body: undefined,
      attempts: undefined,
      bytes_in: 0,
      bytes_out: 0,
      usage: undefined,
      first_byte_ms: undefined,
      total_ms: 0,
      config: '',
    };
  }

  /** The record as far as it is known. */
  get soFar(): Partial<ExchangeRecord> {
    return this.#fields as Partial<ExchangeRecord>; // unknown fields are undefined here and absent there
  }

  /** Ids of the rules that warned, without duplicates. */
  get warnings(): readonly string[] {
    const { rules } = this.#fields;
    if (rules === undefined) return none;
    const warning = rules.filter(({ action, mode }) => action === 'warn' && mode === 'enforce');
    return [...new Set(warning.map(({ id }) => id))];
  }

  /** Milliseconds since the request's head arrived, rounded to a tenth. */
  get elapsedMs(): number {
    return Math.round((performance.now() - this.startedAt) * 10) / 10;
  }

  /** Fields that are written as they are found. */
  note(fields: Plain): void {
    Object.assign(this.#fields, fields);
  }

  /** The endpoint's name, and whose key came with the request. */
  noteCaller(endpoint: string, { project, id }: KeyRecord): void {
    this.#fields.endpoint = endpoint;
    this.#fields.project = project;
    this.#fields.key = id;
  }

  noteSender(sender: Sender): void {
    Object.assign(this.#fields, sender);
  }

  noteDecision({ action, verdicts, wouldBlock, unseen }: Decision, microseconds: number): void {
    const fields = this.#fields;
    fields.decision = action;
    fields.policy_us = microseconds;
    if (unseen > 0) fields.unseen = unseen;
    if (wouldBlock.length > 0) fields.would_block = wouldBlock;
    if (verdicts.length > 0) fields.rules = verdicts.map((verdict) => toRecord(verdict));
  }

  /** Adds what the rules found in the outgoing request beyond what they had found in the client's. */
  noteOutgoing(
    { action, verdicts, unseen }: Pick<Decision, 'action' | 'verdicts' | 'unseen'>,
    microseconds: number,
  ): void {
    const fields = this.#fields;
    fields.policy_us = (fields.policy_us ?? 0) + microseconds;
    if (unseen > (fields.unseen ?? 0)) fields.unseen = unseen;
    const found = verdicts.filter((verdict) => !this.#isNoted(verdict));
    if (found.length === 0) return;
    if (actions.indexOf(action) > actions.indexOf(fields.decision as Action)) fields.decision = action;
    fields.rules = [...(fields.rules ?? []), ...found.map((verdict) => toRecord(verdict, 'outgoing'))];
    this.#noteWouldBlock(found);
  }

  /** The target that is tried, before it has a slot there. */
  noteTarget({ provider, model }: Target, { form, dropped }: SentRequest): void {
    const fields = this.#fields;
    fields.body = form;
    fields.provider = provider.options.name;
    fields.target_model = model;
    fields.dropped = dropped.length === 0 ? undefined : dropped;
  }

  /** A request that is about to leave. */
  noteAttempt(): void {
    this.#fields.attempts = (this.#fields.attempts ?? 0) + 1;
  }

  /** What the rules on the answer found. */
  noteAnswerVerdicts(verdicts: readonly Verdict[]): void {
    if (verdicts.length === 0) return;
    const fields = this.#fields;
    fields.rules = [...(fields.rules ?? []), ...verdicts.map((verdict) => toRecord(verdict, 'answer'))];
    this.#noteWouldBlock(verdicts);
  }

  /** What the exchange cost, and what limits in monitor mode would have refused. */
  noteSpent({ usage, nanoUsd }: Spent, wouldRefuse: readonly string[]): void {
    const fields = this.#fields;
    if (usage !== undefined) fields.usage = toUsageFields(usage);
    if (usage !== undefined && nanoUsd !== undefined) fields.cost_usd = nanoUsd / nanoUsdPerUsd;
    if (wouldRefuse.length > 0) fields.would_limit = wouldRefuse;
  }

  /** Details of a provider's failure that the client is not sent; without secrets. */
  noteCause(cause: string): void {
    if (cause !== '') this.#fields.cause = cause;
  }

  noteFirstByte(): void {
    this.#fields.first_byte_ms = this.elapsedMs;
  }

  /** The final record. */
  finish({ status, error, configHash, scrub }: FinishOptions): ExchangeRecord {
    const fields = this.#fields;
    fields.status = status;
    fields.outcome = outcomeOf(error);
    if (error !== undefined) fields.reason = error.reason;
    if (error?.cause !== undefined) fields.cause = scrub(describe(error.cause));
    if (status >= 400) {
      // A key in the wrong place is what requests are refused for.
      fields.path = scrub(fields.path ?? '');
      if (fields.model !== undefined) fields.model = scrub(fields.model);
    }
    fields.total_ms = this.elapsedMs;
    fields.config = configHash;
    return fields as ExchangeRecord; // all required fields are set by now
  }

  /**
   * Whether the record has the verdict already. A text that a rule only warned about or monitored is still in the
   * outgoing request; one that matches again after a redaction is a different text.
   */
  #isNoted({ rule, action, mode, matches }: Verdict): boolean {
    const known = this.#fields.rules?.filter(({ id, on }) => id === rule && on !== 'answer') ?? [];
    if (mode === 'monitor' || action === 'warn' || action === 'allow') return known.length > 0;
    return known.some(({ at, on }) => on === 'outgoing' && at === matches[0]?.at);
  }

  #noteWouldBlock(verdicts: readonly Verdict[]): void {
    const rules = verdicts
      .filter(({ mode, action }) => mode === 'monitor' && withholds(action))
      .map(({ rule }) => rule);
    if (rules.length > 0) {
      this.#fields.would_block = [...new Set([...(this.#fields.would_block ?? []), ...rules])];
    }
  }
}

interface FinishOptions {
  readonly status: number;
  readonly error: GatewayError | undefined;
  readonly configHash: string;
  /** Removes secrets from what clients and other programs wrote. */
  readonly scrub: (text: string) => string;
}

const none: readonly string[] = [];

export function outcomeOf(error: GatewayError | undefined): Outcome {
  if (error === undefined) return 'answered';
  if (error.code === 'client.left') return 'left';
  return error.failure.status >= 500 ? 'failed' : 'refused';
}

function toRecord({ rule, action, mode, matches }: Verdict, on?: RecordedRule['on']): RecordedRule {
  return {
    id: rule,
    action,
    mode,
    ...(matches[0] === undefined ? {} : { at: matches[0].at }),
    count: matches.reduce((sum, match) => sum + match.count, 0),
    ...(on === undefined ? {} : { on }),
  };
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Its message quotes what could not be parsed, and records hold no content.
  if (cause instanceof SyntaxError) return cause.name;
  const { code } = cause as NodeJS.ErrnoException;
  return code === undefined ? `${cause.name}: ${messageOf(cause)}` : `${code}: ${messageOf(cause)}`;
}
