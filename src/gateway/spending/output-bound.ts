import { type Dialect, memberAt } from '../../dialects/dialect.ts';
import { dialects } from '../../dialects/registry.ts';
import { defaultCap } from '../../dialects/translation/context.ts';
import { maxThinkingBudget, thinkingControl } from '../../hosts/models.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { findCaps } from '../../policy/traverse/caps.ts';
import type { Target } from '../../providers/route.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import { dialectAtTarget } from '../endpoints.ts';

/** Output tokens assumed if neither the client, the configuration nor what is known of the model sets a bound. */
const unboundedTokens = 32_768;

/** How much a request lets its targets write. */
export interface OutputCap {
  /** The largest cap in tokens; 0 if there is none. */
  readonly tokens: number;
  /** Whether no answer can be longer than that. */
  readonly isBounding: boolean;
  /** Whether the request has any, valid or not. */
  readonly isSet: boolean;
  /** How many answers the client asks for. */
  readonly answers: number;
}

export function findOutputCap(document: JsonDocument, { dialect }: ModelEndpoint): OutputCap {
  const caps = findCaps(document, dialect);
  const readable = caps.map(({ tokens }) => tokens).filter(Number.isFinite);
  return {
    tokens: readable.reduce((most, tokens) => Math.max(most, tokens), 0),
    isBounding: readable.length === caps.length && caps.some(({ isOwn }) => isOwn),
    isSet: caps.length > 0,
    answers: answersOf(document, dialect),
  };
}

/** What bounds an answer: the request, and what the entry of the requested model says. */
interface Bounds {
  readonly endpoint: ModelEndpoint;
  readonly cap: OutputCap;
  readonly maxOutputTokens: number | undefined;
  /** Whether what the entry says holds for the target's model. */
  readonly isOwn: boolean;
}

/** The most output tokens that a target can write. */
export function maxOutputAt(target: Target, bounds: Bounds): number {
  const { endpoint, cap } = bounds;
  if (endpoint.dialect.caps.length === 0) return 0;
  const least = cap.isBounding ? minCapAt(target, endpoint) : maxUnbounded(target, bounds);
  return Math.max(cap.tokens + raiseAt(target, endpoint), least) * cap.answers;
}

/** By how much a translation may raise a cap, for thinking that is part of it. */
function raiseAt(target: Target, endpoint: ModelEndpoint): number {
  const dialect = dialectAtTarget(target, endpoint);
  if (dialect === undefined || dialect === endpoint.dialectName || !dialects[dialect].needsCap) return 0;
  return thinkingControl({ host: target.provider.host, targetModel: target.model }) === 'budget'
    ? maxThinkingBudget
    : 0;
}

/** A translation raises smaller caps to this one. */
function minCapAt(target: Target, endpoint: ModelEndpoint): number {
  const dialect = dialectAtTarget(target, endpoint);
  return dialect === undefined || dialect === endpoint.dialectName ? 0 : (dialects[dialect].minCap ?? 0);
}

function maxUnbounded(
  { provider, known: listed }: Target,
  { endpoint, cap, maxOutputTokens, isOwn }: Bounds,
): number {
  const known = listed?.maxOutputTokens ?? unboundedTokens;
  // Where the dialect needs a cap, this one is sent (outgoing/build-body.ts).
  if (provider.options.dialect === 'anthropic' && !cap.isSet) {
    return maxOutputTokens ?? (endpoint.dialect.needsCap ? defaultCap : known);
  }
  return isOwn ? (maxOutputTokens ?? known) : known;
}

/** How many answers the request asks for; some hosts also take a text for a number. */
export function answersOf(document: JsonDocument, { answerCounts = ['n'] }: Dialect): number {
  return answerCounts.reduce((most, path) => {
    const entry = memberAt(document, path);
    if (entry === undefined) return most;
    const count =
      document.kind(entry) === kinds.string ? Number(document.text(entry)) : document.number(entry);
    return Number.isFinite(count) && count > most ? Math.ceil(count) : most;
  }, 1);
}

/**
 * Whether an answer may have tokens that no text shows: most models that reason show a summary of it or nothing. A
 * request decides it for all models, otherwise what is known of the model, and an unknown model may.
 */
export function mayReason(isAsked: boolean | undefined, { provider, known }: Target): boolean {
  if (provider.options.dialect === 'sandbox') return false;
  return isAsked ?? known?.reasonsUnasked ?? true;
}
