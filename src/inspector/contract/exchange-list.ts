/** An exchange in the list. Each event sends the whole row again; `seq` identifies it. */
export interface ExchangeRow {
  /** Grows by one with each exchange that this gateway shows; the list is newest (largest) first. */
  readonly seq: number;
  /** `req_…` */
  readonly id: string;
  /** `open` until the exchange is over. */
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
  /** Why it was refused or failed: `model.not_allowed`, `provider.timeout`, or a rule's own reason. */
  readonly reason?: string;
  readonly decision?: 'allow' | 'warn' | 'mask' | 'redact' | 'block';
  /** The rule that determined the decision; for a block, the one that refuses. */
  readonly rule?: string;
  /** Rules in monitor mode that would have blocked or redacted. */
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
  /** How many requests were made to providers. */
  readonly attempts?: number;
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
  /** Building and checking what is sent, and waiting for a slot at the provider; missing if there was one immediately. */
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
export interface ListAnswer {
  /** All that are kept, newest first. */
  readonly rows: readonly ExchangeRow[];
  /** The event id up to which `rows` is current: pass it as `Last-Event-ID` to `/_/api/events`. */
  readonly cursor: string;
}
