import type { UsageFields } from '../dialects/usage.ts';

/** What is written about one exchange: ids, names, counts and times; never a key, and content only if configured. */
export interface ExchangeRecord {
  /** RFC 3339, when the request's head had arrived. */
  readonly time: string;
  readonly request_id: string;
  readonly method: string;
  /** The path without its query. */
  readonly path: string;
  /** The endpoint's name, if the path is one. */
  readonly endpoint?: string | undefined;
  readonly project?: string | undefined;
  /** The key's id. */
  readonly key?: string | undefined;
  /** The agent that sent it, if it is recognized: claude, codex, opencode, gemini or copilot. */
  readonly agent?: string | undefined;
  /** What the client says of itself: the session, and within it the subagent, what started that, and the request's purpose. */
  readonly session?: string | undefined;
  readonly subagent?: string;
  readonly parent?: string;
  readonly request_class?: string;
  /** The id of the user's prompt. */
  readonly prompt?: string;
  /** The id of the `gateway run` that started the agent. */
  readonly run?: string;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** Which of its keys, if it has several: the name, never the key. */
  readonly provider_key?: string | undefined;
  /** The model's name at the provider. */
  readonly target_model?: string | undefined;
  /** The entry of the model list that it took, by its number, and why; only where conditions chose it. */
  readonly route?: {
    readonly entry: number;
    /** Where its conditions hold; empty for an entry without. `held`: because the conversation was larger before. */
    readonly by: readonly {
      readonly matcher: string;
      readonly at?: string;
      readonly count: number;
      readonly held?: true;
    }[];
  };
  readonly stream?: boolean | undefined;
  readonly status: number;
  readonly outcome: Outcome;
  /** Why it was refused or failed. */
  readonly reason?: string;
  readonly decision?: string | undefined;
  /** Ids of the rules that matched, with what each would have done; monitored ones too. */
  readonly rules?: readonly {
    readonly id: string;
    readonly action: string;
    readonly mode: string;
    readonly at?: string;
    readonly count: number;
    /** Set if it was not the client's request that matched, but the answer or the outgoing request. */
    readonly on?: 'answer' | 'outgoing';
  }[];
  readonly would_block?: readonly string[];
  /** Pieces of content that no rule could look into. */
  readonly unseen?: number;
  readonly policy_us?: number | undefined;
  /** What happened to the request's bytes: exact, spliced, translated, masked or redacted. */
  readonly body?: string | undefined;
  /** How many values of each kind the provider got placeholders for, and how many times one was restored in the answer. */
  readonly masked?: Readonly<Record<string, number>>;
  readonly restored?: Readonly<Record<string, number>>;
  /** How many placeholders the model changed or shortened, so that they could not be restored. */
  readonly broken_placeholders?: Readonly<Record<string, number>>;
  /** Fields that a translation left out. */
  readonly dropped?: readonly string[] | undefined;
  /** Members and headers that the model list has set or removed. */
  readonly changed?: readonly string[] | undefined;
  readonly attempts?: number | undefined;
  /** How often the same refused request came again within a minute; in a second record, written afterwards. */
  readonly repeats?: number;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly usage?: UsageFields | undefined;
  /** What the provider charges for it, if the price is known. */
  readonly cost_usd?: number;
  /** Limits in monitor mode that would have refused the request. */
  readonly would_limit?: readonly string[];
  readonly first_byte_ms?: number | undefined;
  readonly total_ms: number;
  /** The request's body, only if `records.bodies` asks for it and only in the file. */
  readonly request_body?: string;
  /** Hash of the configuration that decided. */
  readonly config: string;
  /** The underlying cause of a failure, for the operator; the client is not sent it. */
  readonly cause?: string;
}

/**
 * answered: the provider's whole answer was passed on, even if it was an error. refused: the gateway refused it.
 * failed: no answer, or a truncated one. left: the client disconnected first.
 */
export type Outcome = 'answered' | 'refused' | 'failed' | 'left';

/** Accepts a record; must neither throw nor block. */
export type WriteRecord = (record: ExchangeRecord) => void;
