import type { ProviderConfig } from '../../config/build/providers.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import { sealOrigin } from '../../dialects/translation/seals.ts';
import { GatewayError } from '../../errors.ts';
import { findHost, traitsOf } from '../../hosts/find-host.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import { knownModelFinder } from '../../limits/known-models.ts';
import { noValues, pairsOf } from '../../policy/mask/masked-values.ts';
import type { ChosenRoute, RoutePlan, RouteTarget } from '../../policy/routes.ts';
import {
  actions,
  type Decision,
  type Match,
  replaces,
  type Subject,
  type Verdict,
} from '../../policy/rule.ts';
import { shareOf, spread } from '../../providers/route.ts';
import { CheckCalls } from '../checks/check-calls.ts';
import { withChecks } from '../checks/with-checks.ts';
import { requestMeta, toSubject, withCapLimit, withPath } from '../decision/decide-request.ts';
import { createRoutePlanner } from '../decision/route-plan.ts';
import { translateBody } from '../decision/translate-request.ts';
import { dialectAt } from '../endpoints.ts';
import { buildBody } from '../outgoing/build-upstream-request.ts';
import { type ModelRequest, parseRequest } from '../request.ts';
import { spreadBy } from '../route.ts';
import { withBody } from '../sender.ts';
import type { PredictedDecision, Question, RouteReport } from './question.ts';

/** What the policies decide about a subject, possibly with more to report. */
interface DecidedSubject {
  readonly decision: Decision;
}

/** What would be sent to a target. */
export type OfflineTarget<Found extends DecidedSubject = DecidedSubject> = {
  /** The provider and the model's name there. */
  readonly target: string;
  readonly dialect: DialectName;
  /** Members and headers that the model list sets or removes. */
  readonly changed: readonly string[];
} & (
  | { readonly kind: 'own bytes' }
  | { readonly kind: 'built'; readonly subject: Subject; readonly found: Found }
  | { readonly kind: 'unsupported'; readonly reason: string }
);

/** A request that strict parsing takes, and what is decided about it and about what would leave. */
export interface OfflineDecision<Found extends DecidedSubject = DecidedSubject> {
  readonly subject: Subject;
  readonly found: Found;
  readonly decision: Decision;
  /** Where it goes, whatever is decided about it. */
  readonly route: ChosenRoute;
  /** In the order in which they are tried. */
  readonly targets: readonly OfflineTarget<Found>[];
  /** Whether a configured provider serves the model. */
  readonly isServed: boolean;
}

/**
 * Decides as the gateway would: strict parsing, the decision on the request, and on what would be built from it for each
 * target; the stricter one of it and of the first target that takes the request counts. `decide` is asked for each.
 * Nothing is decided about a body that strict parsing refuses. Where rules ask services about texts, it is decided again
 * when those have answered.
 */
export async function decideWith<Found extends DecidedSubject>(
  question: Question,
  decide: (subject: Subject) => Found,
): Promise<WholeDecision<Found>> {
  const { checks } = question.key.policies;
  const whole = () => decideOnce(question, decide);
  return checks === undefined
    ? whole()
    : withChecks({ checks, calls: new CheckCalls() }, (results) => checks.decide(results, whole));
}

interface WholeDecision<Found extends DecidedSubject> {
  readonly predicted: PredictedDecision;
  readonly decided: OfflineDecision<Found> | undefined;
}

function decideOnce<Found extends DecidedSubject>(
  question: Question,
  decide: (subject: Subject) => Found,
): WholeDecision<Found> {
  const { config, key, endpoint, pathModel, body, sender = {}, nowMs } = question;
  let request: ModelRequest;
  try {
    request = parseRequest(body, endpoint, { pathModel });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { predicted: refusedByGate(error), decided: undefined };
  }
  const { document } = request;
  const names = [...config.providers.values()].flatMap(({ name, isConfigured }) =>
    isConfigured ? [name] : [],
  );
  const plan = createRoutePlanner({ models: config.models, providers: names })(request.model);
  const about = { endpoint, key, nowMs, sender: withBody(sender, document, endpoint) };
  const asked = toSubject(requestMeta(request, { ...about, route: plan.fixed }), document, endpoint.dialect);
  const { route: decidedRoute } = key.policies.decideRouted(asked, plan);
  const route = {
    ...decidedRoute,
    targets: inOrder(decidedRoute.targets, config.models, spreadBy(key, about.sender)),
  };
  const meta = requestMeta(request, { ...about, route });
  const subject = toSubject(meta, document, endpoint.dialect);
  const found = decide(subject);
  const decision = withPath(key.policies, found.decision, { endpoint, subject });
  const passed = { ...request, document: decision.redacted ?? document };
  const isRefused = decision.action === 'block';
  const source = {
    endpoint,
    meta,
    request: isRefused ? passed : withCapLimit(key.policies, passed, { subject }),
  };
  const redactedBy = decision.verdicts
    .filter(({ action, mode }) => replaces(action) && mode === 'enforce')
    .map(({ policy }) => policy);

  const toTarget = ({
    entry: number,
    index,
    provider: name,
    model,
  }: RouteTarget): OfflineTarget<Found> | undefined => {
    const entry = config.models[number];
    const provider = config.providers.get(name) as ProviderConfig; // one of those that were given to the planner
    const host = findHost({ ...provider, url: new URL(provider.baseUrl ?? 'about:blank') });
    const dialect = dialectAt(provider, endpoint, traitsOf({ host, targetModel: model }));
    if (dialect === undefined) return undefined;
    const to = { target: `${name}/${model}`, dialect };
    const { parameters, headers = [] } = entry?.targets[index] ?? {};
    const names = headers.map((header) => `header:${header.name}`);
    const own = { ...to, kind: 'own bytes', changed: names } as const;
    if (dialect === endpoint.dialectName && parameters === undefined) return own;
    let leaving: Subject;
    let changed: readonly string[];
    try {
      const origin = sealOrigin({ name, baseUrl: provider.baseUrl ?? '' });
      const { dialect: family } = provider;
      const known = knownModelFinder(config.source.modelTable)(model);
      const built = buildBody(source, { dialect, model, host, origin, family, entry, known, parameters });
      const sent = built.form === 'untranslated' ? translateBody(built) : built;
      changed = [...sent.changed, ...names];
      if (built.form !== 'untranslated' && built.changed.length === 0) return own;
      const there = { ...meta, redactedBy, providers: [name], targetModels: [model] };
      leaving = { ...there, document: parseStrictJson(sent.body), dialect: dialects[dialect] } as Subject;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { ...to, kind: 'unsupported', changed: [], reason: error.message };
    }
    return { ...to, kind: 'built', changed, subject: leaving, found: decide(leaving) };
  };
  const targets = isRefused ? [] : route.targets.flatMap((target) => toTarget(target) ?? []);
  const first = targets.find(({ kind }) => kind !== 'unsupported');
  const ofPolicies =
    first?.kind === 'built' ? toStricter(decision, first.found.decision) : toOutcome(decision);
  const predicted = route.isChosen ? { ...ofPolicies, route: toReport(route, plan, config) } : ofPolicies;
  const isServed = route.targets.length > 0;
  return { predicted, decided: { subject, found, decision, route, targets, isServed } };
}

/** In the order in which the session tries them; without one in that of the file. */
function inOrder(
  targets: readonly RouteTarget[],
  models: Question['config']['models'],
  session: string | undefined,
): readonly RouteTarget[] {
  if (session === undefined) return targets;
  const shared = targets.map((target) => ({
    target,
    share: shareOf(models[target.entry] ?? { targets: [] }, target),
  }));
  return spread(shared, session).map(({ target }) => target);
}

function toReport(
  { entries, targets }: ChosenRoute,
  plan: RoutePlan,
  config: Question['config'],
): RouteReport {
  return {
    entries: plan.candidates.map(({ entry }) => {
      const taken = entries.find((each) => each.entry === entry);
      const match = config.models[entry]?.match ?? '';
      const mayBeHeld =
        taken === undefined && config.models[entry]?.conditions?.when?.input_tokens !== undefined;
      return {
        ...{ entry, match, holds: taken !== undefined },
        ...(mayBeHeld && { may_be_held: mayBeHeld }),
        matches: taken?.matches ?? [],
      };
    }),
    targets: targets.map(({ provider, model }) => `${provider}/${model}`),
  };
}

/** Decides by the key's policies alone, and says what they make of the request. Services that rules name are asked. */
export async function decideOffline(question: Question) {
  const { policies } = question.key;
  const { predicted, decided } = await decideWith(question, (subject) => ({
    decision: policies.decide(subject),
  }));
  return {
    predicted,
    /** The client's request; undefined if strict parsing refuses it. */
    document: decided?.subject.document,
    /** `provider/model`, in the order in which they are tried. */
    targets: decided?.route.targets.map(({ provider, model }) => `${provider}/${model}`) ?? [],
    /** The body in which something was masked or redacted, in the client's dialect; undefined if nothing was. */
    replaced: decided?.decision.redacted?.bytes,
    /** The values that leave as placeholders, by these. */
    masked: [...pairsOf(decided?.decision.masked ?? noValues)],
  };
}

/** The stricter of two decisions as a prediction; the first one if they are equally strict. */
function toStricter(one: Decision, other: Decision): PredictedDecision {
  const isOther = actions.indexOf(other.action) > actions.indexOf(one.action);
  const both = (names: (decision: Decision) => readonly string[]) => [
    ...new Set([...names(one), ...names(other)]),
  ];
  return {
    ...toOutcome(isOther ? other : one),
    would_block: both(({ wouldBlock }) => wouldBlock),
    warnings: both(warningsOf),
    unseen: Math.max(one.unseen, other.unseen),
  };
}

export function toOutcome(decision: Decision): PredictedDecision {
  const { action, refusal, verdicts, wouldBlock, unseen } = decision;
  const rest = { would_block: wouldBlock, warnings: warningsOf(decision), unseen };
  if (refusal !== undefined) return { decision: action, ...refusal, ...rest };
  const first = verdicts.find((verdict) => verdict.action === action && verdict.mode === 'enforce');
  if (first === undefined) return { decision: action, ...rest };
  const { rule, reason } = first;
  return { decision: action, rule, reason, ...placeOf(first), ...rest };
}

/** Ids of the rules that warn, without duplicates. */
function warningsOf({ verdicts }: Decision): readonly string[] {
  const warning = verdicts.filter(({ action, mode }) => action === 'warn' && mode === 'enforce');
  return [...new Set(warning.map(({ rule }) => rule))];
}

function placeOf({ matches }: Verdict): { at?: string } {
  const at = (matches[0] as Match | undefined)?.at;
  return at === undefined || at === '' ? {} : { at };
}

function refusedByGate({ reason, message, param }: GatewayError): PredictedDecision {
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
