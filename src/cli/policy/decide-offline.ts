import type { KeyRecord } from '../../config/build/keys.ts';
import type { Config } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import { factsOf } from '../../gateway/decision/judge.ts';
import type { ModelEndpoint } from '../../gateway/endpoints.ts';
import { type ModelRequest, parseRequest } from '../../gateway/request.ts';
import type { Action, Decision, Match, Subject, Verdict } from '../../policy/rule.ts';
import { chooseTargets } from '../../providers/route.ts';

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

/** A request as the gateway reads it, ready to be asked about; or how the reading refused it. */
export type Read =
  | { readonly kind: 'read'; readonly subject: Subject; readonly isServed: boolean }
  | { readonly kind: 'refused'; readonly outcome: Outcome };

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
  return {
    kind: 'read',
    subject: {
      ...factsOf(request, { endpoint, key, targetModels, nowMs }),
      document: request.document,
      dialect: endpoint.dialect,
    },
    isServed: targets.length > 0,
  };
}

export function decideOffline(question: Question): Outcome {
  const read = readOffline(question);
  return read.kind === 'refused' ? read.outcome : toOutcome(question.key.policies.decide(read.subject));
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
