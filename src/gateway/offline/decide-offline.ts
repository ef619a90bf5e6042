import type { ProviderConfig } from '../../config/build/providers.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import {
  actions,
  type Decision,
  type Match,
  replaces,
  type Subject,
  type Verdict,
} from '../../policy/rule.ts';
import { hostOf } from '../../providers/host.ts';
import { chooseTargets } from '../../providers/route.ts';
import { factsOf } from '../decision/decide-request.ts';
import { translateBody } from '../decision/translate-request.ts';
import { buildBody } from '../outgoing/build-body.ts';
import { type ModelRequest, parseRequest } from '../request.ts';
import { dialectAt } from '../targets.ts';
import type { Decided, Outcome, Question, Read, ReadRequest } from './question.ts';

/** Reads a body as the gateway does: strict parsing, the fields, the model's names at its providers. */
export function readOffline({ config, key, endpoint, pathModel, body, nowMs }: Question): Read {
  let request: ModelRequest;
  try {
    request = parseRequest(body, endpoint, pathModel);
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

/** The decision on a request, and on what would be built from it for the first target that takes it. */
export function decideOffline(question: Question): Decided {
  const read = readOffline(question);
  if (read.kind === 'refused') return { outcome: read.outcome, replaced: undefined, masked: new Map() };
  const { policies } = question.key;
  const decision = policies.decide(read.subject);
  const first = buildForTargets(question, read, decision).find(({ kind }) => kind !== 'unsupported');
  const outcome =
    first?.kind === 'built' ? toStricter(decision, policies.decide(first.subject)) : toOutcome(decision);
  return { outcome, replaced: decision.redacted?.bytes, masked: decision.masked ?? new Map() };
}

/** The stricter of two decisions as an outcome; the first one if they are equally strict. */
export function toStricter(one: Decision, other: Decision): Outcome {
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

export function toOutcome(decision: Decision): Outcome {
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

interface About {
  /** The provider and the model's name there. */
  readonly target: string;
  readonly dialect: DialectName;
}

/** What would be sent to a target. */
export type BuiltForTarget =
  | (About & { readonly kind: 'own bytes' })
  | (About & { readonly kind: 'built'; readonly subject: Subject })
  | (About & { readonly kind: 'unsupported'; readonly reason: string });

/** What the gateway would send to the targets of a decided request, in their order. */
export function buildForTargets(
  { key, endpoint }: Question,
  { request, facts, entry, targets }: ReadRequest,
  decision: Decision,
): readonly BuiltForTarget[] {
  if (decision.action === 'block') return [];
  const document = decision.redacted ?? request.document;
  const source = { request: { ...request, document }, endpoint, key, facts };
  const redactedBy = decision.verdicts
    .filter(({ action, mode }) => replaces(action) && mode === 'enforce')
    .map(({ policy }) => policy);
  return targets.flatMap(({ provider, model }): BuiltForTarget[] => {
    const dialect = dialectAt(provider, endpoint);
    if (dialect === undefined) return [];
    const about = { target: `${provider.name}/${model}`, dialect };
    if (dialect === endpoint.dialectName) return [{ ...about, kind: 'own bytes' }];
    try {
      const host = hostOf(provider.dialect, hostnameOf(provider));
      const body = buildBody(source, { dialect, model, host, family: provider.dialect, entry });
      const bytes = body.form === 'untranslated' ? translateBody(body).body : body.body;
      const built = { ...facts, redactedBy, document: parseStrictJson(bytes), dialect: dialects[dialect] };
      return [{ ...about, kind: 'built', subject: built }];
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return [{ ...about, kind: 'unsupported', reason: error.message }];
    }
  });
}

function hostnameOf({ baseUrl }: ProviderConfig): string {
  return baseUrl === undefined ? '' : new URL(baseUrl).hostname;
}
