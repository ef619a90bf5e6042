import type { KeyRecord } from '../../config/build/keys.ts';
import type { ModelEntry } from '../../config/build/models.ts';
import type { ProviderConfig } from '../../config/build/providers.ts';
import type { Config } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import { factsOf, type RequestFacts } from '../../gateway/decision/judge.ts';
import type { ModelEndpoint } from '../../gateway/endpoints.ts';
import { type ModelRequest, parseRequest } from '../../gateway/request.ts';
import {
  type Action,
  actions,
  type Decision,
  type Match,
  type Subject,
  type Verdict,
} from '../../policy/rule.ts';
import { chooseTargets } from '../../providers/route.ts';
import { buildForTargets } from './judge-targets.ts';

export interface Question {
  readonly config: Config;
  readonly key: KeyRecord;
  readonly endpoint: ModelEndpoint;
  readonly body: Buffer;
  readonly nowMs: number;
}

/** What the gateway would decide. A body that it can't read in one way only is blocked, by no rule. */
export interface Outcome {
  readonly decision: Action;
  /** The rule that has the word: of a block the one that refuses, else the first of that action. */
  readonly rule?: string;
  readonly reason?: string;
  /** JSON pointer of its first match. */
  readonly at?: string;
  readonly message?: string;
  /** Rules in dry run that would have blocked or redacted. */
  readonly would_block: readonly string[];
  readonly warnings: readonly string[];
  /** Pieces of content that no rule could look into. */
  readonly unseen: number;
}

/** A request as the gateway reads it, ready to be judged. */
export interface ReadRequest {
  readonly kind: 'read';
  readonly request: ModelRequest;
  readonly facts: RequestFacts;
  readonly subject: Subject;
  readonly entry: ModelEntry | undefined;
  /** The configured providers that may be tried. */
  readonly targets: readonly { readonly provider: ProviderConfig; readonly model: string }[];
}

/** Or how the strict reading refused it. */
export type Read = ReadRequest | { readonly kind: 'refused'; readonly outcome: Outcome };

/** Reads a body as the gateway does: the strict gate, the fields, the model's names at its providers. */
export function readOffline({ config, key, endpoint, body, nowMs }: Question): Read {
  let request: ModelRequest;
  try {
    request = parseRequest(body, endpoint);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { kind: 'refused', outcome: refusedByGate(error) };
  }
  const entry = config.findModel(request.model);
  const configured = new Map([...config.providers].filter(([, { isConfigured }]) => isConfigured));
  const targets = entry === undefined ? [] : chooseTargets(entry, request.model, configured);
  const targetModels = targets.map(({ model }) => model);
  const facts = factsOf(request, { endpoint, key, targetModels, nowMs });
  const subject = { ...facts, document: request.document, dialect: endpoint.dialect };
  return { kind: 'read', request, facts, subject, entry, targets };
}

/** The decision on a request, and on what would be built of it for the first target that takes it. */
export function decideOffline(question: Question): Outcome {
  const read = readOffline(question);
  if (read.kind === 'refused') return read.outcome;
  const { policies } = question.key;
  const decision = policies.decide(read.subject);
  const first = buildForTargets(question, read, decision).find(({ kind }) => kind !== 'unsupported');
  return first?.kind === 'built' ? toStricter(decision, policies.decide(first.subject)) : toOutcome(decision);
}

/** The outcome of two decisions, in the words of the stricter one; of two alike, of the first. */
export function toStricter(one: Decision, other: Decision): Outcome {
  const isOther = actions.indexOf(other.action) > actions.indexOf(one.action);
  const both = (names: (decision: Decision) => readonly string[]) => [
    ...new Set([...names(one), ...names(other)]),
  ];
  return {
    ...toOutcome(isOther ? other : one),
    would_block: both(({ wouldBlock }) => wouldBlock),
    warnings: both(({ warnings }) => warnings),
    unseen: Math.max(one.unseen, other.unseen),
  };
}

export function toOutcome({ action, refusal, verdicts, wouldBlock, warnings, unseen }: Decision): Outcome {
  const rest = { would_block: wouldBlock, warnings, unseen };
  if (refusal !== undefined) return { decision: action, ...refusal, ...rest };
  const first = verdicts.find((verdict) => verdict.action === action && verdict.mode === 'enforce');
  if (first === undefined) return { decision: action, ...rest };
  const { rule, reason } = first;
  return { decision: action, rule, reason, ...placeOf(first), ...rest };
}

function placeOf({ matches }: Verdict): { at?: string } {
  const at = (matches[0] as Match | undefined)?.at;
  return at === undefined || at === '' ? {} : { at };
}

function refusedByGate({ reason, message, param }: GatewayError): Outcome {
  return {
    decision: 'block',
    reason,
    message,
    ...(param === undefined ? {} : { at: param }),
    would_block: [],
    warnings: [],
    unseen: 0,
  };
}
