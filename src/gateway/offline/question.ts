import type { KeyRecord } from '../../config/build/keys.ts';
import type { ModelEntry } from '../../config/build/models.ts';
import type { ProviderConfig } from '../../config/build/providers.ts';
import type { Config } from '../../config/config.ts';
import type { Action, Subject } from '../../policy/rule.ts';
import type { RequestFacts } from '../decision/decide-request.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import type { ModelRequest } from '../request.ts';

export interface Question {
  readonly config: Config;
  readonly key: KeyRecord;
  readonly endpoint: ModelEndpoint;
  readonly body: Buffer;
  readonly nowMs: number;
}

/** What the gateway would decide. A body that strict parsing refuses is blocked, by no rule. */
export interface Outcome {
  readonly decision: Action;
  /** The rule that determined the decision: for a block the one that refuses, else the first with that action. */
  readonly rule?: string;
  readonly reason?: string;
  /** JSON pointer of its first match. */
  readonly at?: string;
  readonly message?: string;
  /** Rules in monitor mode that would have blocked or redacted. */
  readonly would_block: readonly string[];
  readonly warnings: readonly string[];
  /** Pieces of content that no rule could look into. */
  readonly unseen: number;
}

/** A decision, and what it makes of the request. */
export interface Decided {
  readonly outcome: Outcome;
  /** The body in which something was masked or redacted, in the client's dialect; undefined if nothing was. */
  readonly replaced: Buffer | undefined;
  /** The values that leave as placeholders. */
  readonly masked: readonly string[];
}

/** A request as the gateway reads it, ready to be decided on. */
export interface ReadRequest {
  readonly kind: 'read';
  readonly request: ModelRequest;
  readonly facts: RequestFacts;
  readonly subject: Subject;
  readonly entry: ModelEntry | undefined;
  /** The configured providers that may be tried. */
  readonly targets: readonly { readonly provider: ProviderConfig; readonly model: string }[];
}

/** A request, or the refusal of strict parsing. */
export type Read = ReadRequest | { readonly kind: 'refused'; readonly outcome: Outcome };
