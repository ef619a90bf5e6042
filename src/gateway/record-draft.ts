import { createHash } from 'node:crypto';
import { toUsageFields } from '../dialects/usage.ts';
import type { GatewayError } from '../errors.ts';
import { messageOfError } from '../lib/message-of.ts';
import { nanoUsdPerUsd } from '../limits/price.ts';
import { countKinds } from '../policy/mask/masked-values.ts';
import { type ChosenRoute, noRoute } from '../policy/routes.ts';
import { type Action, replaces, strictest, type Verdict, withholds } from '../policy/rule.ts';
import type { Target } from '../providers/route.ts';
import type { ExchangeRecord, Outcome } from '../record/record.ts';
import { LoginRefusal } from './authenticate.ts';
import type { Sender } from './sender.ts';
import type { Spent } from './spending/spending.ts';
import {
  type Caller,
  type Decided,
  type OutgoingFinding,
  type OutgoingRequest,
  type ReadAnswer,
  type ReadBody,
  type SentRequest,
  type Subscriber,
  shownBody,
} from './subscriber.ts';

type Draft = { -readonly [Field in keyof ExchangeRecord]: ExchangeRecord[Field] };
/** What is known of an exchange when its request's head has arrived. */
interface Beginning {
  readonly id: string;
  readonly time: string;
  readonly method: string;
}

type RecordedRule = NonNullable<ExchangeRecord['rules']>[number];

/** The record of an exchange while it is open: the first of its subscribers, and the one that the others may read. */
export class RecordDraft implements Subscriber {
  // The usual fields exist from the start, because each added field would change the object's hidden class.
  readonly #fields: Draft;
  /** By `performance.now()`. */
  readonly startedAt = performance.now();
  /** Whether the exchange is recorded at all: the owner's own look-ups are not. */
  isKept = true;
  /** Why it was refused or broke off. */
  failure: GatewayError | undefined;
  /** The strictest action of all decisions. */
  #action: Action = 'allow';
  #sender: Sender = {};
  #body: Buffer | undefined;
  #route: ChosenRoute = noRoute;

  constructor({ id, time, method }: Beginning) {
    this.#fields = {
      time,
      request_id: id,
      method,
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
    return this.#fields;
  }

  /** Ids of the rules that warned, without duplicates. */
  get warnings(): readonly string[] {
    const { rules } = this.#fields;
    if (rules === undefined) return none;
    const warning = rules.filter(({ action, mode }) => action === 'warn' && mode === 'enforce');
    return [...new Set(warning.map(({ id }) => id))];
  }

  get outcome(): Outcome {
    if (this.failure === undefined) return 'answered';
    if (this.failure.code === 'client.left') return 'left';
    return this.failure.failure.status >= 500 ? 'failed' : 'refused';
  }

  /** Milliseconds since the request's head arrived, rounded to a tenth. */
  get elapsedMs(): number {
    return Math.round((performance.now() - this.startedAt) * 10) / 10;
  }

  received(path: string): void {
    this.#fields.path = path;
  }

  authenticated({ endpoint, project, id, run }: Caller): void {
    this.#fields.endpoint = endpoint;
    this.#fields.project = project;
    this.#fields.key = id;
    if (run !== undefined) this.#fields.run = run;
  }

  read(read: ReadBody): void {
    const { body, sender, isRecorded } = read;
    this.#body = body;
    this.#sender = sender;
    this.#fields.bytes_in = body.length;
    if (isRecorded) this.#fields.request_body = shownBody(read).toString();
  }

  decided({ decision, route, microseconds, body, model, stream, sender, shownSender }: Decided): void {
    const fields = this.#fields;
    const { action, verdicts, wouldBlock, unseen } = decision;
    // A large body's memory was a thread's meanwhile: the client's bytes are in the one that came back.
    if (this.#body?.length === 0 && !replaces(action)) this.#body = body;
    this.#sender = sender;
    fields.model = model;
    fields.stream = stream;
    Object.assign(fields, shownSender);
    this.#action = action;
    fields.decision = action;
    fields.policy_us = microseconds;
    this.#route = route;
    this.#noteEntry(route.entries[0]?.entry);
    if (unseen > 0) fields.unseen = unseen;
    if (wouldBlock.length > 0) fields.would_block = wouldBlock;
    if (verdicts.length > 0) fields.rules = verdicts.map((verdict) => toRecord(verdict));
  }

  checked(findings: readonly OutgoingFinding[]): void {
    for (const finding of findings) this.#addFinding(finding);
  }

  targeted({ provider, model }: Target, { form, dropped, changed }: OutgoingRequest): void {
    const fields = this.#fields;
    fields.body = form;
    fields.provider = provider.options.name;
    if (provider.options.keyName !== fields.provider_key) fields.provider_key = provider.options.keyName;
    fields.target_model = model;
    const { targets } = this.#route;
    const name = provider.options.name;
    this.#noteEntry(targets.find((each) => each.provider === name && each.model === model)?.entry);
    fields.dropped = dropped.length === 0 ? undefined : dropped;
    fields.changed = changed.length === 0 ? undefined : changed;
  }

  sending({ request: { masked } }: SentRequest): void {
    this.#fields.attempts = (this.#fields.attempts ?? 0) + 1;
    if (masked !== undefined) this.#fields.masked = countKinds(masked);
  }

  wrote(piece: Buffer): void {
    this.#fields.first_byte_ms ??= this.elapsedMs;
    this.#fields.bytes_out += piece.length;
  }

  answerRead({ verdicts, masking, cause }: ReadAnswer): void {
    const fields = this.#fields;
    if (verdicts.length > 0) {
      fields.rules = [...(fields.rules ?? []), ...verdicts.map((verdict) => toRecord(verdict, 'answer'))];
      this.#addWouldBlock(verdicts);
    }
    Object.assign(fields, masking);
    if (cause !== undefined && cause !== '') fields.cause = cause;
  }

  answeredItself(bytes: number): void {
    this.#fields.bytes_out = bytes;
  }

  failed(error: GatewayError, isAnswered: boolean): void {
    this.failure = error;
    if (error instanceof LoginRefusal) this.#addFinding(error.finding);
    if (isAnswered) this.#fields.first_byte_ms = this.elapsedMs;
  }

  /** What the exchange cost, and what limits in monitor mode would have refused; from its spending. */
  noteSpent({ usage, nanoUsd }: Spent, wouldRefuse: readonly string[]): void {
    const fields = this.#fields;
    if (usage !== undefined) fields.usage = toUsageFields(usage);
    if (usage !== undefined && nanoUsd !== undefined) fields.cost_usd = nanoUsd / nanoUsdPerUsd;
    if (wouldRefuse.length > 0) fields.would_limit = wouldRefuse;
  }

  /** The final record. */
  finish({ status, configHash, scrub }: FinishOptions): ExchangeRecord {
    const fields = this.#fields;
    const { failure } = this;
    fields.status = status;
    fields.outcome = this.outcome;
    if (failure !== undefined) fields.reason = failure.reason;
    if (failure?.cause !== undefined) fields.cause = scrub(describe(failure.cause));
    if (status >= 400) {
      // A key in the wrong place is what requests are refused for.
      fields.path = scrub(fields.path);
      if (fields.model !== undefined) fields.model = scrub(fields.model);
    }
    fields.total_ms = this.elapsedMs;
    fields.config = configHash;
    return fields;
  }

  /**
   * A key that is the same each time the same session gets the same refusal for the same body; undefined for everything
   * else. Agents that repeat a refused request name their session.
   */
  get repeatKey(): string | undefined {
    const { failure } = this;
    if (failure === undefined || this.outcome !== 'refused') return undefined;
    const { key, path, bytes_in: bytes } = this.#fields;
    // The memory of a large body may not have come back from the decision thread.
    if (this.#body === undefined || this.#body.length !== bytes) return undefined;
    const { session, subagent } = this.#sender;
    if (session === undefined) return undefined;
    const parts = [key, path, failure.reason, session, subagent];
    return createHash('sha256').update(parts.join('\n')).update(this.#body).digest('base64');
  }

  /** Where conditions chose among the entries of the model list. */
  #noteEntry(entry: number | undefined): void {
    if (!this.#route.isChosen || entry === undefined || this.#fields.route?.entry === entry) return;
    const matches = this.#route.entries.find((each) => each.entry === entry)?.matches ?? [];
    const by = matches.map(({ matcher, at, count, isHeld }) => ({
      matcher,
      ...(at !== '' && { at }),
      count,
      ...(isHeld && { held: isHeld }),
    }));
    this.#fields.route = { entry, by };
  }

  #addFinding({ action, verdicts, unseen, microseconds }: OutgoingFinding): void {
    const fields = this.#fields;
    fields.policy_us = (fields.policy_us ?? 0) + microseconds;
    if (unseen > (fields.unseen ?? 0)) fields.unseen = unseen;
    const found = verdicts.filter((verdict) => !this.#isNoted(verdict));
    if (found.length === 0) return;
    this.#action = strictest([this.#action, action]);
    fields.decision = this.#action;
    fields.rules = [...(fields.rules ?? []), ...found.map((verdict) => toRecord(verdict, 'outgoing'))];
    this.#addWouldBlock(found);
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

  #addWouldBlock(verdicts: readonly Verdict[]): void {
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
  readonly configHash: string;
  /** Removes secrets from what clients and other programs wrote. */
  readonly scrub: (text: string) => string;
}

const none: readonly string[] = [];

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
  return code === undefined ? `${cause.name}: ${messageOfError(cause)}` : `${code}: ${messageOfError(cause)}`;
}
