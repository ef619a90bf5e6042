import { readFields } from '../../dialects/request-fields.ts';
import type { PolicySet } from '../../policy/compile.ts';
import type { Decision, Subject } from '../../policy/rule.ts';
import type { KnownKey } from '../authenticate.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import type { ModelRequest } from '../request.ts';

/** What policies say to one request. */
export interface Judgement {
  readonly decision: Decision;
  /** The request as it may leave: without what a policy took out. Of no use where the decision is block. */
  readonly request: ModelRequest;
  /** Numbers of the rules that apply to the answer. */
  readonly answerRules: readonly number[];
}

export interface Question {
  readonly request: ModelRequest;
  readonly endpoint: ModelEndpoint;
  readonly key: KnownKey;
  /** The model's names at the providers that may be tried. */
  readonly targetModels: readonly string[];
  readonly nowMs: number;
}

/** Asks the policies, in whichever thread this runs. */
export function judge(policies: PolicySet, question: Question): Judgement {
  const { request, endpoint } = question;
  const subject = toSubject(question);
  const decision = policies.decide(subject);
  if (decision.action === 'block') return { decision, request, answerRules: [] };
  return {
    decision,
    request: redactedRequest(request, endpoint, decision),
    answerRules: policies.answerRules(subject),
  };
}

/** What the policies look at; the commands that try policies ask them the same way. */
export function toSubject({ request, endpoint, key, targetModels, nowMs }: Question): Subject {
  return {
    document: request.document,
    dialect: endpoint.dialect,
    endpoint: endpoint.dialectName,
    model: request.model,
    targetModels,
    stream: request.stream,
    project: key.project,
    key: key.id,
    nowMs,
  };
}

/** The request without what a policy took out. */
function redactedRequest(
  request: ModelRequest,
  { dialect }: ModelEndpoint,
  { redacted }: Decision,
): ModelRequest {
  return redacted === undefined ? request : { document: redacted, ...readFields(redacted, dialect) };
}
