/** An exchange in the list. `progressed` and `finished` send the whole row again; rows are told apart by `seq`. */
export interface ExchangeRow {
  /** Grows by one with each exchange that this gateway shows; the list is newest (largest) first. */
  readonly seq: number;
  /** `req_…` */
  readonly id: string;
  /** `open` while the answer is under way. */
  readonly state: 'open' | 'finished';
  /** When the request's head had arrived. */
  readonly time: string;
  readonly method: string;
  readonly path: string;
  /** messages, chat, responses, embeddings, count_tokens, models, … */
  readonly endpoint?: string;
  readonly project?: string;
  /** The key's id, never the key. */
  readonly key?: string;
  /** The first product of the user agent, such as `claude-cli/2.0.14`; at most 80 characters. */
  readonly client?: string;
  /** As the client named it. */
  readonly model?: string;
  readonly provider?: string;
  /** The model's name at the provider. */
  readonly target_model?: string;
  readonly stream?: boolean;
  /** 0 while open, and where no answer was sent. */
  readonly status: number;
  readonly outcome?: 'answered' | 'refused' | 'failed' | 'left';
  /** Why it was refused or failed: `model.not_allowed`, `provider.timeout`, a rule's own word. */
  readonly reason?: string;
  readonly decision?: 'allow' | 'warn' | 'redact' | 'block';
  /** The rule that has the word; of a block the one that refuses. */
  readonly rule?: string;
  /** Rules in dry run that would have blocked or redacted. */
  readonly would_block?: readonly string[];
  readonly tokens?: Tokens;
  readonly cost_usd?: number;
  readonly first_byte_ms?: number;
  /** Missing while open. */
  readonly total_ms?: number;
  /** Missing while open. */
  readonly times?: Times;
  readonly bytes_in: number;
  readonly bytes_out: number;
  /** Requests that were made to providers. */
  readonly attempts?: number;
  /** Whether the bodies were kept. */
  readonly bodies: boolean;
  /** The exchange that this one was sent again from. */
  readonly again?: string;
}

export interface Tokens {
  /** Cached ones included. */
  readonly input: number;
  readonly output: number;
  /** Read from the provider's cache. */
  readonly cached: number;
  /** The provider did not count; this was made from the length of texts. */
  readonly estimated?: true;
}

/**
 * Durations of the exchange's parts one after the other, in milliseconds; their sum is `total_ms`. A part that was
 * not reached is missing.
 */
export interface Times {
  /** The request's head had arrived, until its body was here. */
  readonly read?: number;
  /** Strict reading and rules; limits and ledger too. */
  readonly decide?: number;
  /** Until the request began to leave: building and judging what leaves, waiting for a place and a connection. */
  readonly connect?: number;
  /** From there until the client was sent its first byte; of several attempts, all of them. */
  readonly first_byte?: number;
  /** From the first byte to the end. */
  readonly stream?: number;
}

/**
 * `GET /_/api/exchanges`. All parameters are optional and combine; a parameter may be repeated (any of its values).
 * `show` = blocked | warned | failed (with blocked: any of them); `project`, `model` (as the client named it, or at
 * the provider), `client`, `provider`, `status`: exact; `slower` = milliseconds of `total_ms` at least; `text` =
 * part of id, path, project, key, client, model, provider, rule or reason, in any case; `before` = a `seq`: only
 * older ones; `limit` = at most that many (default and maximum 500).
 */
export interface ListAnswer {
  /** Newest first. */
  readonly rows: readonly ExchangeRow[];
  /** Of all that are kept, before filters. */
  readonly kept: number;
  /** The event id up to which `rows` is current: pass it as `Last-Event-ID` to `/_/api/events`. */
  readonly cursor: string;
}
