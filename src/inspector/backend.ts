import type { PoliciesAnswer, SendAgainAnswer, TryPolicyAnswer } from './contract/actions.ts';
import type { RuleDetail } from './contract/exchange-detail.ts';
import type { BreakerState, BudgetState, HistoryAnswer } from './contract/now.ts';

/** A request with everything that its decision depends on. */
export interface DecisionInput {
  readonly body: Buffer;
  /** The endpoint's name or path; guessed from the body by default. */
  readonly endpoint?: string | undefined;
  /** The key's id; the first key by default. */
  readonly key?: string | undefined;
  readonly atMs: number;
}

export interface SentAgain {
  readonly target: string;
  /** The key's id. */
  readonly key: string;
  /** The client's headers that affect a provider's answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What the rules decide about a request. */
export interface Explained {
  readonly rules: readonly RuleDetail[];
  /** What leaves in place of values, with these. */
  readonly masked: readonly (readonly [placeholder: string, value: string])[];
}

/** What the live page needs of the gateway and its configuration; implemented in `server/inspector/`. */
export interface InspectorBackend {
  readonly allowedHosts: () => ReadonlySet<string>;
  /** Whether `records.bodies` is on. */
  readonly keepsBodies: () => boolean;
  /** Undefined if `inspector.password_file` is not set. */
  readonly password: () => string | undefined;
  /** Scrubs the configured secrets from a text. */
  readonly scrub: (text: string) => string;
  readonly open: () => { readonly exchanges: number; readonly streams: number };
  readonly breakers: () => readonly BreakerState[];
  readonly budgets: () => Promise<readonly BudgetState[]>;
  /** Throws inspector.no_ledger. */
  readonly history: (by: 'hour' | 'day', sinceMs: number) => Promise<HistoryAnswer>;
  /** Each rule of the key's policies on a request, by the configuration in force; undefined if that is not known. */
  readonly explain: (request: DecisionInput) => Promise<Explained | undefined>;
  /** Where rules are in the file, by policy and rule. */
  readonly ruleLines: () => Promise<ReadonlyMap<string, { readonly file: string; readonly line: number }>>;
  readonly policies: () => Promise<PoliciesAnswer>;
  /** Decides by scratch rules; nothing is saved. Throws inspector.busy, inspector.too_long. */
  readonly tryPolicy: (policies: string, request: DecisionInput) => Promise<TryPolicyAnswer>;
  /** Sends a request to this gateway with a key, like any other request. */
  readonly sendAgain: (request: SentAgain) => Promise<SendAgainAnswer>;
}
