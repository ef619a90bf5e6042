import type { ExchangeRecord } from '../../record/record.ts';

/** What a row shows of the exchange's record, as far as that is known. */
type Recorded = 'endpoint' | 'project' | 'key' | 'session' | 'model' | 'provider' | 'target_model' | 'stream';

/** An exchange in the list. Each event sends the whole row again; `seq` identifies it. */
export interface ExchangeRow
  extends Pick<ExchangeRecord, 'time' | 'method' | 'path' | 'status' | 'bytes_in' | 'bytes_out' | Recorded>,
    Pick<ExchangeRecord, 'reason' | 'would_block' | 'cost_usd' | 'first_byte_ms' | 'attempts'>,
    Partial<Pick<ExchangeRecord, 'outcome' | 'total_ms'>> {
  /** Grows by one with each exchange that this gateway shows; the list is newest (largest) first. */
  readonly seq: number;
  /** `req_…` */
  readonly id: string;
  /** `open` until the exchange is over; `status` is 0 until then, and where no answer was sent. */
  readonly state: 'open' | 'finished';
  /** The first product of the user agent, such as `claude-cli/2.0.14`; at most 80 characters. */
  readonly client?: string;
  readonly decision?: 'allow' | 'warn' | 'mask' | 'redact' | 'block';
  /** The rule that determined the decision; for a block, the one that refuses. */
  readonly rule?: string;
  readonly tokens?: Tokens;
  /** Missing while open. */
  readonly times?: Times;
  /** Whether the bodies were kept. */
  readonly bodies: boolean;
  /** The id of the exchange that this one repeats ("send again"). */
  readonly again?: string;
}

export interface Tokens {
  /** Cached ones included. */
  readonly input: number;
  readonly output: number;
  /** Read from the provider's cache. */
  readonly cached: number;
  /** True if the provider did not count and this was estimated from the length of texts. */
  readonly estimated?: true;
}

/**
 * Durations of the exchange's consecutive phases, in milliseconds; they add up to `total_ms`. A phase that was not
 * reached is missing.
 */
export interface Times {
  /** From the arrival of the request's head until its body was complete. */
  readonly read?: number;
  /** Strict parsing and rules, limits and ledger. */
  readonly decide?: number;
  /** Building and checking what is sent, and waiting for a slot at the first provider; missing if there was one immediately. */
  readonly queue?: number;
  /**
   * Until the request that was answered began to leave: waiting for a connection, and attempts before it; without
   * `queue`, building and checking it too.
   */
  readonly connect?: number;
  /** From there until the first byte was sent to the client. */
  readonly first_byte?: number;
  /** From the first byte to the end. */
  readonly stream?: number;
}

/** `GET /_/api/exchanges`. */
export interface ListResponse {
  /** All that are kept, newest first. */
  readonly rows: readonly ExchangeRow[];
  /** The event id up to which `rows` is current: pass it as `Last-Event-ID` to `/_/api/events`. */
  readonly cursor: string;
}

type DecidedRecord = Pick<Partial<ExchangeRecord>, 'decision' | 'rules' | 'outcome'>;
type ShownDecision = NonNullable<ExchangeRow['decision']>;

/** What the rules decided, about the request and then about its answer. */
export function decisionOf({ decision, rules, outcome }: DecidedRecord): ShownDecision | undefined {
  // Of most exchanges; the cast is explained below.
  if (rules === undefined) return decision as ShownDecision | undefined;
  const onAnswer = rules.filter(({ on, mode }) => on === 'answer' && mode === 'enforce');
  const has = (action: string) => onAnswer.some((rule) => rule.action === action);
  if (outcome === 'refused' && has('block')) return 'block';
  if (has('redact') && (decision === 'allow' || decision === 'warn')) return 'redact';
  return decision as ShownDecision | undefined; // the record's is one of the actions, widened to a text
}

/** The rule that determined the decision: the first one whose action it is. */
export function decidingRule(
  { rules = [] }: DecidedRecord,
  decision: string | undefined,
): string | undefined {
  return rules.find(({ action, mode }) => mode === 'enforce' && action === decision)?.id;
}

/** What these tests read of a row, or of a record. */
type Ended = Pick<ExchangeRow, 'method' | 'status'> & {
  readonly decision?: string | undefined;
  readonly outcome?: string | undefined;
  readonly reason?: string | undefined;
};

/** The values of the filter `show`, shared so that the gateway's counts and the page's filter agree. */
export const shows = {
  /** A rule or a limit refused it. */
  blocked: isBlocked,
  /** It went on with something replaced, or its answer did. */
  redacted: ({ decision }: Ended) => decision === 'redact' || decision === 'mask',
  warned: ({ decision, would_block }: ExchangeRow) => decision === 'warn' || would_block !== undefined,
  /** It should have been answered, whole, and was not. */
  failed: (ended: Ended) =>
    ended.outcome !== undefined &&
    (ended.outcome !== 'answered' || ended.status >= 400) &&
    !isBlocked(ended) &&
    !isStray(ended),
} satisfies Readonly<Record<string, (row: ExchangeRow) => boolean>>;

export type Show = keyof typeof shows;

function isBlocked({ decision, reason = '' }: Ended): boolean {
  return decision === 'block' || /^(?:policy|limit)\.|^model\.not_allowed$/.test(reason);
}

/** What browsers and scanners look for on every port, such as an icon. */
function isStray({ method, status }: Ended): boolean {
  return method !== 'POST' && status === 404;
}
