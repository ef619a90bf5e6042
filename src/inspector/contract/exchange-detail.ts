import type { ExchangeRow } from './exchange-list.ts';

/** `GET /_/api/exchanges/:id`. 404 `inspector.unknown` when it is no longer kept. */
export interface ExchangeDetail {
  readonly row: ExchangeRow;
  /** The requests to providers, one entry per attempt; the last one is the one that was answered. */
  readonly attempts: readonly ShownAttempt[];
  /** Each rule of the key's policies in order; only those that matched if the body was not kept. */
  readonly rules: readonly RuleDetail[];
  /** False if `rules` holds only those that matched, because the body was not kept. */
  readonly all_rules: boolean;
  /** Places of keys and passwords of documentation, which a rule that looks for secrets passes over. */
  readonly examples: readonly string[];
  /** Received and sent side by side: one line per header name, in the order in which they came. */
  readonly headers: readonly HeaderLine[];
  /** Headers of the answer as the client got it. */
  readonly answer_headers: readonly HeaderLine[];
  /** What happened to the body: exact, spliced, translated, masked or redacted. */
  readonly form?: string | undefined;
  /** The entry of the model list that it took, and by which conditions; only where conditions chose it. */
  readonly route?:
    | {
        readonly entry: number;
        readonly by: readonly { readonly matcher: string; readonly at?: string; readonly count: number }[];
      }
    | undefined;
  /** Fields and headers (`header:…`) that were not sent to the provider. */
  readonly dropped: readonly string[];
  /** Members and headers that the model list has set or removed. */
  readonly changed: readonly string[];
  /** Missing if they were not kept. */
  readonly bodies?: Bodies | undefined;
  /** The error that the client got if the exchange was refused or failed. */
  readonly message?: string | undefined;
  /** The underlying cause of a failure, which the client was not sent. */
  readonly cause?: string | undefined;
  /** The record as it is written, without bodies; missing while open. */
  readonly record?: Readonly<Record<string, unknown>> | undefined;
}

export interface ShownAttempt {
  readonly provider: string;
  readonly model: string;
  /** After the head of the request had arrived. */
  readonly at_ms: number;
  readonly form: string;
}

export interface RuleDetail {
  readonly policy?: string;
  readonly rule: string;
  readonly action: string;
  readonly mode: string;
  readonly reason?: string;
  readonly matched: boolean;
  /** Where it matched: the client's request, what was to leave to the provider, or the answer. */
  readonly on: 'request' | 'outgoing' | 'answer';
  readonly matches: readonly ShownMatch[];
  /** How long this rule takes by itself. */
  readonly microseconds?: number;
  /** Where it stands in the configuration file; missing for built-in rules. */
  readonly source?: RuleLocation | undefined;
}

export interface RuleLocation {
  readonly file: string;
  readonly line: number;
}

export interface ShownMatch {
  /** JSON pointer, `header:name` or `query:beta`; empty for the request as a whole. */
  readonly at: string;
  readonly view?: string;
  readonly matcher?: string;
  readonly count: number;
  /** What detectors found. */
  readonly detected?: readonly {
    readonly detector: string;
    readonly confidence: string;
    readonly why?: string;
  }[];
  /** Of the matches in the text there; the first 100. */
  readonly ranges?: readonly TextRange[] | undefined;
  /**
   * The text there, from around the first match, as its shape: letters and digits except the first of each word become `•`;
   * at most 160 characters.
   */
  readonly excerpt?: string;
  /** Where in the excerpt the matches are. */
  readonly excerpt_ranges?: readonly TextRange[];
}

/** A range of a text, in UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

export interface HeaderLine {
  readonly name: string;
  /** As it came; missing if the gateway added it. */
  readonly received?: string | undefined;
  /** As it left; missing if it was left out. */
  readonly sent?: string | undefined;
  /** Whether a value was replaced by its first characters and `…`. */
  readonly hidden: boolean;
}

export interface Bodies {
  readonly received: Body;
  /** Missing if nothing was sent. */
  readonly sent?: Body | undefined;
  /** As the client got it. */
  readonly answer?: Body | undefined;
  /** A streamed answer, assembled; missing if the answer is not a stream. */
  readonly answer_parts?: readonly ShownPart[] | undefined;
  /** The events of a streamed answer, the first 2,000. */
  readonly events?: readonly ShownEvent[] | undefined;
}

export interface Body {
  /** Length of the whole body. */
  readonly bytes: number;
  /** The first 1 MiB, decoded as UTF-8 (invalid bytes become U+FFFD), with configured secrets scrubbed. */
  readonly text: string;
  readonly truncated: boolean;
  /** Ranges of `text`, in order and without overlap. */
  readonly marks: readonly Mark[];
}

export interface Mark extends TextRange {
  /**
   * `match`: a rule matched there. `redacted`: replaced before it left; in an answer also what the provider sent of that.
   * `restored`: came back in place of what had left.
   * `dropped`: not in what left.
   */
  readonly kind: 'match' | 'redacted' | 'restored' | 'dropped';
  /** JSON pointer to the value that it is in, or is; missing for `redacted` and `restored`. */
  readonly at?: string;
  /** The rules that matched it, by their ids. */
  readonly rule?: string;
}

export interface ShownPart {
  /** `more`: the answer has more parts than are assembled. */
  readonly kind: 'text' | 'thinking' | 'refusal' | 'call' | 'error' | 'more';
  /** Of the tool that is called. */
  readonly name?: string | undefined;
  /** For a call its arguments, as they came. */
  readonly text: string;
  readonly marks?: readonly Mark[];
}

export interface ShownEvent {
  readonly name?: string | undefined;
  /** At most 4,096 characters. */
  readonly data: string;
  /** What was restored in it, and what stayed masked. */
  readonly marks?: readonly Mark[];
  readonly at_ms: number;
}

/** `GET /_/api/exchanges/:id/test` and `…/curl`. 409 `inspector.not_kept` without a body. */
export interface TextResponse {
  /** A suggested file name. */
  readonly name: string;
  /** A fixture for `gateway policy test`, or a command line; ASCII only, so that it is safe to paste. */
  readonly text: string;
}
