import type { KeyRecord } from '../../config/build/keys.ts';
import { methodFor } from '../../dialects/dialect.ts';
import { hasModel, targetOf } from '../../dialects/model-path.ts';
import { dialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import type { HttpRequest } from '../../http/request.ts';
import { memoize } from '../../lib/memoize.ts';
import { joinValues, type MaskedValues } from '../../policy/mask/masked-values.ts';
import {
  type Decision,
  replaces,
  type Subject,
  strictest,
  toRefusal,
  type Verdict,
} from '../../policy/rule.ts';
import type { ProviderRequest } from '../../providers/attempt.ts';
import type { Call } from '../../providers/clouds/clouds.ts';
import {
  type ForwardableHeader,
  type ForwardOptions,
  forwardableHeaders,
  requestHeaders,
} from '../../providers/headers.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Target } from '../../providers/route.ts';
import { refuseLoginIn } from '../client-login.ts';
import { blocked } from '../decision/decide.ts';
import type { DecidedRequest } from '../decision/decide-request.ts';
import { toSubject } from '../decision/decide-request.ts';
import type { Decider } from '../decision/decider.ts';
import type { PassedTranslation, RequestTranslation } from '../decision/translate-request.ts';
import { dialectAt } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import type { RoutedRequest } from '../route.ts';
import { buildBody, type SameDialect } from './build-body.ts';
import { fillEnvelope, inEnvelope } from './envelope.ts';

/** A checked request in the form for one target, and what is needed to pass its answer back. */
export interface UpstreamRequest extends ProviderRequest {
  /** What became of the client's bytes. */
  readonly form: 'exact' | 'spliced' | 'translated' | 'masked' | 'redacted';
  /** The values to restore in the answer; absent if none was masked. */
  readonly masked?: MaskedValues | undefined;
  /** Absent if the provider speaks the client's dialect, so that its answer is passed on as it is. */
  readonly translation?: RequestTranslation;
  /** Whether the gateway asked for the usage of the stream and the client did not. */
  readonly hidesUsage: boolean;
  /** Fields and headers that were left out. */
  readonly dropped: readonly string[];
}

export interface Outgoing extends RoutedRequest {
  /** The client's query, without its question mark. */
  readonly query: string;
  readonly decider: Decider;
}

/**
 * Every request to a provider is built here, for the first target and each fallback, and all of it has been checked by
 * the key's policies in the form in which it leaves:
 *
 * - the body: exactly the bytes that were decided on, except for three values of the gateway's (the model's name, a cap
 *   on output that no rule objects to, and that a stream is to report its usage); or a body built from them, which is decided on as a request in the provider's
 *   dialect, because building it joins texts that were separate;
 * - the client's headers and its query, as texts.
 *
 * Throws the refusal, request.unsupported if the target can't take the request, and request.thread_unsupported.
 */
export async function buildUpstreamRequest(
  exchange: Exchange,
  { decided, route, targets, query, decider }: Outgoing,
  target: Target,
): Promise<UpstreamRequest> {
  const { endpoint, key, request, facts } = decided;
  const { provider, model } = target;
  const dialect = dialectAt(provider.options, endpoint) ?? endpoint.dialectName;
  const isSame = dialect === endpoint.dialectName;
  if (!isSame || target !== targets[0]) refuseThread(decided);

  const { host, options } = provider;
  const asksUsage =
    exchange.spending?.isLimited === true && provider.traitsFor(model).streamUsage === 'asked';
  const destination = { dialect, model, host, family: options.dialect, entry: route.entry, asksUsage };
  const method = isSame ? endpoint.call : methodFor(dialects[dialect], request.stream);
  const evaluate = () => {
    const subject = toSubject(facts, request.document, endpoint.dialect);
    const head = evaluateHead(
      { rawHeaders: exchange.request.rawHeaders, query: isSame && !hasModel(endpoint.call) ? query : '' },
      { policies: key.policies, subject },
      { dialect: dialects[dialect], extraNames: options.forwardHeaders, own: provider.ownHeaders },
      (name) => exchange.scrubber.inName(name),
    );
    concludeHead(exchange, head);
    const call = { path: targetOf(method, model), model, stream: request.stream };
    return headFor(provider, call, head);
  };
  const { decision: own } = decided;
  // The flags of a header may have to be in the body, but only those that may leave.
  const ownHead = isSame ? evaluate() : undefined;
  const built = buildBody(decided, { ...destination, envelope: ownHead?.envelope });
  if (built.form !== 'untranslated') {
    const replacement = replacementOf(own);
    return finish(exchange, { built, replacement, masked: own.masked, ...(ownHead ?? evaluate()) });
  }
  const redactedBy = own.verdicts.filter(isReplacing).map(({ policy }) => policy);
  const translated = await decider.translateRequest(
    key.policies,
    { ...built, facts: { ...facts, redactedBy } },
    exchange.lifetime,
  );
  const evaluated = evaluate();
  exchange.draft.noteOutgoing(translated.decision, translated.microseconds);
  if (translated.kind === 'blocked') throw blocked(translated.decision);
  const { decision } = translated;
  const masked = joinValues(own.masked ?? none, decision.masked ?? none);
  if (masked === undefined) {
    const message = 'two values have the same placeholder';
    throw new GatewayError('policy.blocked', message, { reason: 'content.unredactable' });
  }
  const replacement = replacementOf({ action: strictest([own.action, decision.action]) });
  const body = inEnvelope(translated.body, evaluated.envelope);
  return finish(exchange, {
    ...evaluated,
    built: { ...translated, body, form: 'translated' },
    replacement,
    masked,
  });
}

/** Records what was found in the headers and query; throws the refusal. */
function concludeHead({ draft }: Exchange, { verdicts }: EvaluatedHead): void {
  if (verdicts.length === 0) return;
  const enforced = verdicts.filter(({ mode }) => mode === 'enforce');
  draft.noteOutgoing({ action: strictest(enforced.map((each) => each.action)), verdicts, unseen: 0 }, 0);
  const blocking = enforced.find(({ action }) => action === 'block');
  if (blocking === undefined) return;
  const { failure } = blocking;
  const found = { refusal: toRefusal(blocking), verdicts: [blocking] };
  throw blocked(failure === undefined ? found : { ...found, failure });
}

/** Where a call goes at its host, and which of the checked headers it has there. */
function headFor(provider: Provider, call: Call, { headers, query, dropped }: EvaluatedHead) {
  const path = provider.pathFor(call);
  const envelope = provider.envelopeFor(call);
  if (envelope !== undefined) {
    const filled = fillEnvelope(headers, envelope);
    return { path, ...filled, dropped: [...dropped, ...filled.dropped] };
  }
  return { path: path + (path.includes('?') ? query.replace('?', '&') : query), headers, envelope, dropped };
}

interface Checked {
  readonly path: string;
  readonly headers: string[];
  /** Headers that were left out because of their values. */
  readonly dropped: readonly string[];
  readonly built: SameDialect | (PassedTranslation & { readonly form: 'translated' });
  /** What rules did to the body. */
  readonly replacement: 'masked' | 'redacted' | undefined;
  readonly masked: MaskedValues | undefined;
}

/** Throws the refusal if the client's own credential is anywhere but in its place. */
function finish(exchange: Exchange, checked: Checked): UpstreamRequest {
  const { path, headers, built, replacement, masked } = checked;
  const { login } = exchange;
  if (login !== undefined) {
    const texts = Buffer.from([path, ...headers].join('\n'));
    // The client's own bytes were looked through when they came.
    refuseLoginIn(exchange, built.form === 'exact' ? [texts] : [texts, built.body]);
  }
  const fields = built.form === 'translated' ? { translation: built.translation } : {};
  const dropped = built.form === 'translated' ? [...built.dropped, ...checked.dropped] : checked.dropped;
  const form = replacement ?? built.form;
  // The one place that marks a request as approved by the policies.
  const credential = login?.credential;
  return {
    path,
    headers,
    body: built.body,
    credential,
    form,
    hidesUsage: built.form !== 'translated' && built.hidesUsage,
    masked: masked?.size === 0 ? undefined : masked,
    dropped,
    ...fields,
  } as UpstreamRequest;
}

function isReplacing({ action, mode }: Verdict): boolean {
  return replaces(action) && mode === 'enforce';
}

const none: MaskedValues = new Map();

function replacementOf({ action }: Pick<Decision, 'action'>): Checked['replacement'] {
  if (action === 'redact') return 'redacted';
  return action === 'mask' ? 'masked' : undefined;
}

/**
 * A conversation that one provider stores is unknown to every other. Clients recognize this error code and send the
 * whole conversation instead.
 */
function refuseThread({ request: { document }, endpoint }: DecidedRequest): void {
  const { storedConversation: field } = endpoint.dialect;
  if (field === undefined) return;
  const thread = document.member(document.root, field);
  if (thread === undefined || document.value(thread) === null) return;
  throw new GatewayError(
    'request.thread_unsupported',
    `${field}: the conversation is kept by another provider; send all messages`,
    { param: field, errorCode: 'thread_unsupported_request' },
  );
}

/** The part of the client's request head that goes to a provider. */
interface EvaluatedHead {
  /** A flat list of names and values. */
  readonly headers: string[];
  /** With its question mark; empty if there is none. */
  readonly query: string;
  /** Headers that were left out because of their values. */
  readonly dropped: readonly string[];
  /** What the text rules found; if one of them blocks, nothing may leave. */
  readonly verdicts: readonly Verdict[];
}

/**
 * Evaluates the key's text rules on the client's headers and query. A header that a rule would redact or mask is left out:
 * part of its value would mean something else, or nothing.
 */
export function evaluateHead(
  { rawHeaders, query }: Pick<HttpRequest, 'rawHeaders'> & Pick<Outgoing, 'query'>,
  { policies, subject }: Pick<KeyRecord, 'policies'> & { readonly subject: Subject },
  { dialect, extraNames, own }: ForwardOptions & { readonly own: readonly string[] },
  keyIn: (name: string) => string | undefined,
): EvaluatedHead {
  const verdicts: Verdict[] = [];
  const mayLeave = (kind: 'header' | 'query', name: string, text: string): boolean => {
    // Nearly all values recur, and this runs for every header of every request.
    if (policies.isKnownClean(text)) return true;
    const at = `${kind}:${name}`;
    const found = policies.evaluateValue({ at, text }, subject);
    if (found.length === 0) return true;
    const isNoted = ({ policy, rule }: Verdict) =>
      verdicts.some((each) => each.policy === policy && each.rule === rule && each.matches[0]?.at === at);
    verdicts.push(...found.filter((verdict) => !isNoted(verdict)));
    return !found.some(({ action, mode }) => mode === 'enforce' && replaces(action));
  };
  // A name that clients choose is judged as it was spelled, as it leaves, and by the key that is in it in any case.
  const isNameClean = ({ name, spelling, label }: ForwardableHeader): boolean =>
    name === label ||
    [spelling, name, keyIn(name) ?? ''].every((text) => text === '' || mayLeave('header', label, text));
  // The content type was checked before the body was read.
  const isClean = (header: ForwardableHeader): boolean =>
    header.name === 'content-type' || (isNameClean(header) && mayLeave('header', header.label, header.value));
  const forwardable = forwardableHeaders(rawHeaders, { dialect, extraNames });
  const dropped = forwardable.unfit.map((label) => `header:${label}`);
  const client: string[] = [];
  for (const header of forwardable.headers) {
    if (isClean(header)) client.push(header.name, header.value);
    else dropped.push(`header:${header.label}`);
  }
  const headers = requestHeaders(client, { own, dialect });
  const beta = betaOf(query);
  const isForwarded = beta !== '' && mayLeave('query', 'beta', beta);
  return { headers, query: isForwarded ? `?beta=${beta}` : '', dropped, verdicts };
}

const flag = /^[A-Za-z0-9._-]{1,32}$/;

/**
 * Of the client's query only the flag `beta` is forwarded: coding agents send `beta=true`, and nothing else is known to
 * matter. Empty if it is missing or not a plain flag.
 */
export const betaOf = memoize((query) => {
  const beta = new URLSearchParams(query).get('beta') ?? '';
  return flag.test(beta) ? beta : '';
});
