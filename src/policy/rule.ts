import type { Dialect } from '../dialects/dialect.ts';
import type { DialectName } from '../dialects/registry.ts';
import type { JsonDocument } from '../json/json-document.ts';
import type { Confidence } from './detectors/detector.ts';
import type { MaskedValues } from './mask/masked-values.ts';

/** What actions do with what their rule finds. Each step asks for this, and not for actions by their names. */
const effects = {
  allow: 'passes',
  warn: 'passes',
  mask: 'replaces',
  redact: 'replaces',
  block: 'refuses',
} as const;

export type Action = keyof typeof effects;
/** The actions that refuse the request. */
type RefusingAction = {
  [Each in Action]: (typeof effects)[Each] extends 'refuses' ? Each : never;
}[Action];

/** From the mildest to the strictest; where several rules match, the strictest wins. */
export const actions = Object.keys(effects) as [Action, ...Action[]];

/** What rules look at: a strictly parsed request, who sent it and when. */
export interface Subject {
  readonly document: JsonDocument;
  readonly dialect: Dialect;
  readonly endpoint: DialectName;
  /** The name the client asked for. */
  readonly model: string;
  /** Names of the same model after aliases, at each provider that may be tried; all are checked. */
  readonly targetModels: readonly string[];
  /** Names of the providers that may be tried; none if that is not known. */
  readonly providers?: readonly string[];
  /** Who sent it, as far as its client says. */
  readonly sender?: SubjectSender;
  readonly stream: boolean;
  readonly project: string;
  /** Id of the key, never the key. */
  readonly key: string;
  /** Milliseconds since 1970, for rules that depend on the time. */
  readonly nowMs: number;
  /**
   * Policies that redacted this request before it took its present form. They have decided: their `default`
   * does not apply to it, although what they took out is no longer there to match.
   */
  readonly redactedBy?: readonly string[];
  /** Set if it stands for any request for the model: then no text is searched. */
  readonly standsForAny?: true;
  /** Set if its document is a text that leaves besides the body, such as a header's value: no service is asked about it. */
  readonly isValue?: true;
}

/** What rules look at of a sender: the recognized agent, the id of its session, and what the request is for. */
export interface SubjectSender {
  readonly agent?: string;
  readonly session?: string;
  /** The agent within the session. */
  readonly subagent?: string;
  readonly request_class?: string;
}

/** Where a rule matched. Never what: a record must not repeat what it keeps from leaving. */
export interface Match {
  /** JSON pointer into the request. */
  readonly at: string;
  /** Which reading of a text matched. */
  readonly view?: 'exact' | 'folded';
  /** The matcher that matched, as it is named in the rule. */
  readonly matcher: string;
  /** How often; of a text, in how many parts of it. */
  readonly count: number;
  /** Set if a condition on size holds because the conversation was larger before. */
  readonly isHeld?: true;
  /** The tool that is offered or forced there, for the refusal: its client needs to know which to take away. */
  readonly tool?: string;
  /** What detectors found there, each kind once. */
  readonly detected?: readonly Detected[];
}

/** A kind of value that a detector found. */
export interface Detected {
  readonly detector: string;
  readonly confidence: Confidence;
  /** How it was recognized, if the detector knows several ways. */
  readonly why?: string;
}

/** What evaluating one rule says about a request. */
export interface Verdict {
  readonly policy: string;
  readonly rule: string;
  readonly action: Action;
  readonly mode: 'enforce' | 'monitor';
  readonly reason: string;
  readonly message?: string;
  readonly matches: readonly Match[];
  /** Set if the rule could not be evaluated on a header: as in a decision. */
  readonly failure?: RuleFailure;
}

/** What was thrown if a rule could not be evaluated; for the log. The request is then blocked. */
export interface RuleFailure {
  readonly rule: string;
  readonly cause: unknown;
}

/** Reason and message for the answer. */
export interface Refusal {
  readonly rule: string;
  readonly reason: string;
  readonly message: string;
  /** The pointer of the first match. */
  readonly at?: string;
}

/** What the policies decide about a request: all verdicts together. */
export type Decision = Pass | Block;

interface AllVerdicts {
  /** Rules that matched, in the order of the files; monitored ones included. */
  readonly verdicts: readonly Verdict[];
  /** Ids of monitored rules that would have blocked, redacted or masked. */
  readonly wouldBlock: readonly string[];
  /** How many pieces of content no rule could read (images, references), so that they don't pass for clean. */
  readonly unseen: number;
  /** What it names that only the account has which keeps it, such as `previous_response_id`, if it does. */
  readonly kept?: string;
}

/** The request may leave, possibly with something replaced. */
export interface Pass extends AllVerdicts {
  readonly action: Exclude<Action, 'block'>;
  /** The request with its matches replaced, if the action is redact or mask; decided on like the request itself. */
  readonly redacted?: JsonDocument;
  /** The values that rules masked in it, by their placeholders; absent if there are none. */
  readonly masked?: MaskedValues;
  readonly refusal?: never;
  readonly failure?: never;
}

/** Nothing may leave. */
export interface Block extends AllVerdicts {
  readonly action: 'block';
  readonly refusal: Refusal;
  readonly failure?: RuleFailure;
  readonly redacted?: never;
  readonly masked?: never;
}

/** Whether what a rule with this action finds is replaced before the request leaves. */
export function replaces(action: Action): boolean {
  return effects[action] === 'replaces';
}

/** Whether a request in which a rule with this action finds something is refused. */
export function refuses(action: Action): action is RefusingAction {
  return effects[action] === 'refuses';
}

/** Whether such a rule, in monitor mode, would have kept something from leaving. */
export function withholds(action: Action): boolean {
  return effects[action] !== 'passes';
}

/** Allow if there are none. */
export function strictest<Known extends Action>(some: readonly Known[]): Known | 'allow' {
  return some.reduce<Known | 'allow'>(
    (found, action) => (actions.indexOf(action) > actions.indexOf(found) ? action : found),
    'allow',
  );
}

/** The refusal of a verdict that blocks. */
export function toRefusal({ rule, reason, message, matches }: Verdict): Refusal {
  const { at, tool } = matches[0] ?? {};
  return {
    rule,
    reason,
    message: `${message ?? `blocked by rule ${rule}`}${tool === undefined ? '' : ` (tool ${tool})`}`,
    ...(at === undefined || at === '' ? {} : { at }),
  };
}
