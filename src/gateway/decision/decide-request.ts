import type { KeyRecord } from '../../config/build/keys.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { hasModel } from '../../dialects/model-path.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import type { Checkpoint } from '../../policy/checkpoint.ts';
import type { ConversationSize, PeakSizes } from '../../policy/conversations.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import { type ChosenRoute, noRoute, type RoutePlan } from '../../policy/routes.ts';
import {
  type Block,
  type Decision,
  type Pass,
  type Subject,
  toRefusal,
  withholds,
} from '../../policy/rule.ts';
import type { RuleInputs } from '../../policy/rule-inputs.ts';
import type { ClientLogin } from '../authenticate.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import { type ModelRequest, readFields } from '../request.ts';
import type { Sender } from '../sender.ts';

/** What rules check about a request besides its content, as plain data: it is sent to the decision thread too. */
export type RequestMeta = Omit<Subject, 'document' | 'dialect'>;

/** The decision on a client's request, and how long it took. */
export type RequestDecision = (PassedRequest | BlockedRequest) & { readonly microseconds: number };

interface PassedRequest {
  readonly kind: 'passed';
  readonly decision: Pass;
  /** Where it goes. */
  readonly route: ChosenRoute;
  /** As it may leave, redactions applied. */
  readonly request: ModelRequest;
  /** Indexes of the rules that apply to the answer. */
  readonly answerRules: readonly number[];
  /** What is to be remembered of its conversation. */
  readonly conversation?: ConversationSize | undefined;
}

interface BlockedRequest {
  readonly kind: 'blocked';
  readonly decision: Block;
  /** Where it would have gone. */
  readonly route: ChosenRoute;
  /** As it came. */
  readonly request: ModelRequest;
}

/** A request that no policy refuses. */
export interface DecidedRequest extends Omit<PassedRequest, 'kind'> {
  readonly endpoint: ModelEndpoint;
  readonly key: KeyRecord;
  readonly meta: RequestMeta;
  /** The client's own login at a provider; undefined if it has sent none. */
  readonly login: ClientLogin | undefined;
}

/** A body that the gateway built. */
export interface BuiltBody {
  readonly body: Buffer;
  readonly dialect: DialectName;
  /** What is known of the client's request that it was built from. */
  readonly meta: RequestMeta;
}

/** The decision on it, and how long it took. */
export type BodyDecision = { readonly microseconds: number } & (
  | {
      readonly kind: 'passed';
      readonly decision: Pass;
      /** As it may leave. */
      readonly body: Buffer;
    }
  | { readonly kind: 'blocked'; readonly decision: Block }
);

interface Circumstances {
  readonly endpoint: ModelEndpoint;
  readonly key: Pick<KeyRecord, 'id' | 'project'>;
  /** Who may be asked, and what the model is called there; undefined while that is not known. */
  readonly route: Pick<ChosenRoute, 'targetModels' | 'providers'> | undefined;
  /** Who sent it, as far as its client says. */
  readonly sender: Sender;
  readonly nowMs: number;
}

/** A client's body, and what is known about its request. */
export interface Incoming extends Omit<Circumstances, 'route'> {
  readonly body: Buffer;
  /** The model, if the path has it. */
  readonly pathModel?: string | undefined;
}

export function requestMeta(
  { model, stream }: Pick<ModelRequest, 'model' | 'stream'>,
  { endpoint, key, route = noRoute, sender, nowMs }: Circumstances,
): RequestMeta {
  const { id, project } = key;
  const { targetModels, providers } = route;
  return {
    endpoint: endpoint.dialectName,
    model,
    targetModels,
    providers,
    sender,
    stream,
    project,
    key: id,
    nowMs,
  };
}

/** Members are spelled out because V8 takes a slow path for each one added to a spread object. */
export function toSubject(meta: RequestMeta, document: JsonDocument, dialect: Dialect): Subject {
  const { endpoint, model, targetModels, providers, sender, stream, project, key, nowMs } = meta;
  const { redactedBy } = meta;
  const subject = {
    document,
    dialect,
    endpoint,
    model,
    targetModels,
    providers,
    sender,
    stream,
    project,
    key,
    nowMs,
  } as Subject; // its optional members may be undefined
  return redactedBy === undefined ? subject : { ...subject, redactedBy };
}

interface DecidedAs {
  readonly endpoint: ModelEndpoint;
  readonly meta: RequestMeta;
  readonly plan: RoutePlan;
  /** Where it may be given up. */
  readonly checkpoint?: Checkpoint;
  /** How large conversations were before. */
  readonly peaks?: PeakSizes | undefined;
}

/** Applies the policies to a client's request, and decides where it goes; runs in any thread. */
export function decideRequest(
  policies: PolicySet,
  request: ModelRequest,
  { endpoint, meta, plan, checkpoint, peaks }: DecidedAs,
): RequestDecision {
  const startedAt = performance.now();
  const asked = toSubject(meta, request.document, endpoint.dialect);
  const routed = policies.decideRouted(asked, plan, { checkpoint, peaks });
  const { decision: onBody, route, subject, inputs, conversation } = routed;
  const decision = withPath(policies, onBody, { endpoint, subject });
  if (decision.action === 'block') {
    const microseconds = Math.round((performance.now() - startedAt) * 1_000);
    return { kind: 'blocked', decision, route, request, microseconds };
  }
  const { redacted } = decision;
  const passed = redacted === undefined ? request : reread(request, redacted, endpoint);
  const limited = withCapLimit(policies, passed, { subject, inputs });
  const microseconds = Math.round((performance.now() - startedAt) * 1_000);
  const answerRules = policies.answerRules(subject);
  return { kind: 'passed', decision, route, request: limited, answerRules, microseconds, conversation };
}

/**
 * With the largest cap on output that no rule objects to. It is found with the decision, not when a cap is needed, because
 * the texts of a rule with `check` are known only here. `inputs` are those of the decision, so that no text is searched
 * again for it.
 */
export function withCapLimit(
  policies: PolicySet,
  request: ModelRequest,
  { subject, inputs }: { readonly subject: Subject; readonly inputs?: RuleInputs | undefined },
): ModelRequest {
  const capLimit = policies.capLimit(inputs ?? policies.inputs({ ...subject, document: request.document }));
  if (capLimit === undefined) return request;
  // Spelled out, as in `toSubject`; the type asks for every member.
  const { document, model, modelEntries, stream, demand, askedModes, mayHaveSeals } = request;
  const limited: { readonly [Name in keyof Required<ModelRequest>]: ModelRequest[Name] } = {
    document,
    model,
    modelEntries,
    stream,
    demand,
    askedModes,
    mayHaveSeals,
    capLimit,
  };
  return limited;
}

/** A model's name in the path is a text that leaves, too: nothing in it can be replaced, so it is refused. */
export function withPath(
  policies: PolicySet,
  onBody: Decision,
  { endpoint, subject }: { readonly endpoint: ModelEndpoint; readonly subject: Subject },
): Decision {
  if (!hasModel(endpoint.call)) return onBody;
  const found = policies.evaluateValue({ at: '/model', text: subject.model }, subject);
  if (found.length === 0) return onBody;
  const verdicts = [...onBody.verdicts, ...found];
  const refused = found.find(({ mode, action }) => mode === 'enforce' && withholds(action));
  if (refused === undefined || onBody.action === 'block') return { ...onBody, verdicts };
  const { wouldBlock, unseen } = onBody;
  return { action: 'block', verdicts, wouldBlock, unseen, refusal: toRefusal(refused) };
}

/** The request in another document. */
function reread(
  { model, stream }: ModelRequest,
  document: JsonDocument,
  endpoint: ModelEndpoint,
): ModelRequest {
  const { dialect, call } = endpoint;
  const caller = hasModel(call) ? { model, stream } : undefined;
  return { document, ...readFields(document, dialect, caller) };
}

/** Parses a built body strictly and applies the policies to it. Throws what strict parsing throws. */
export function decideBody(
  policies: PolicySet,
  { body, dialect, meta }: BuiltBody,
  checkpoint?: Checkpoint,
): BodyDecision {
  const startedAt = performance.now();
  const document = parseStrictJson(body, checkpoint);
  const decision = policies.decide(toSubject(meta, document, dialects[dialect]), checkpoint);
  const microseconds = Math.round((performance.now() - startedAt) * 1_000);
  if (decision.action === 'block') return { kind: 'blocked', decision, microseconds };
  return { kind: 'passed', decision, microseconds, body: decision.redacted?.bytes ?? body };
}
