import type { UsageFields } from '../dialects/usage.ts';

/** What is written about one exchange. No key, and no content unless asked for: ids, names, counts and times. */
export interface ExchangeRecord {
  /** RFC 3339, when the request's head had arrived. */
  readonly time: string;
  readonly request_id: string;
  readonly method: string;
  /** The path without its query. */
  readonly path: string;
  /** The endpoint's name, where the path is one. */
  readonly endpoint?: string;
  readonly project?: string;
  /** The key's id. */
  readonly key?: string;
  readonly model?: string;
  readonly provider?: string;
  /** The model's name at the provider. */
  readonly target_model?: string;
  readonly stream?: boolean;
  readonly status: number;
  readonly outcome: Outcome;
  /** Why it was refused or failed. */
  readonly reason?: string;
  readonly decision?: string;
  /** Ids of the rules that matched, with what each would have done; monitored ones too. */
  readonly rules?: readonly {
    readonly id: string;
    readonly action: string;
    readonly mode: string;
    readonly at?: string;
    readonly count: number;
    /** Set if it was not the client's request that matched: the answer, or what was to leave to the provider. */
    readonly on?: 'answer' | 'outgoing';
  }[];
  readonly would_block?: readonly string[];
  /** Pieces of content that no rule could look into. */
  readonly unseen?: number;
  readonly policy_us?: number;
  /** What happened to the request's bytes: exact, spliced, translated or redacted. */
  readonly body?: string;
  /** Fields that a translation left out. */
  readonly dropped?: readonly string[];
  readonly attempts?: number;
  /** How often the same refusal came again within a minute; in a second record of it, written afterwards. */
  readonly repeats?: number;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly usage?: UsageFields;
  /** What the provider charges for it, where the price is known. */
  readonly cost_usd?: number;
  /** Limits in dry run that would have refused the request. */
  readonly would_limit?: readonly string[];
  readonly first_byte_ms?: number;
  readonly total_ms: number;
  /** The request's body, only if `records.bodies` asks for it and only in the file. */
  readonly request_body?: string;
  /** Hash of the configuration that decided. */
  readonly config: string;
  /** The hidden cause of a failure, for whoever runs the gateway. */
  readonly cause?: string;
}

/**
 * answered: the provider's whole answer was passed on, its own errors too. refused: the gateway said no.
 * failed: no answer, or a cut one. left: the client went first.
 */
export type Outcome = 'answered' | 'refused' | 'failed' | 'left';

/** Takes a record; must not throw and must not wait. */
export type WriteRecord = (record: ExchangeRecord) => void;
