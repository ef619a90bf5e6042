import type { StaticHeader } from '../../config/build/parameters.ts';
import { methodFor } from '../../dialects/dialect.ts';
import { hasModel, targetOf } from '../../dialects/model-path.ts';
import { dialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../errors.ts';
import { joinValues, type MaskedValues, noValues } from '../../policy/mask/masked-values.ts';
import { type Decision, type Pass, replaces, strictest, type Verdict } from '../../policy/rule.ts';
import type { ProviderRequest } from '../../providers/attempt.ts';
import type { CloudRequest } from '../../providers/clouds/clouds.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Target } from '../../providers/route.ts';
import type { DecidedRequest } from '../decision/decide-request.ts';
import type { Decider } from '../decision/decider.ts';
import type { PassedTranslation, RequestTranslation } from '../decision/translate-request.ts';
import { dialectAtTarget } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import type { RoutedRequest } from '../route.ts';
import { buildBody, type SameDialect } from './build-body.ts';
import { fillEnvelope, inEnvelope } from './envelope.ts';
import type { EvaluatedHead, OutgoingCheck } from './outgoing-check.ts';

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
  /** Members and headers that the model list has changed. */
  readonly changed: readonly string[];
}

export interface Outgoing extends RoutedRequest {
  /** The client's query, without its question mark. */
  readonly query: string;
  readonly decider: Decider;
  /** Whether tokens or money are limited, so that their usage must be known. */
  readonly isLimited: boolean;
}

/**
 * Every request to a provider is built here, for the first target and each fallback, and all of it has been checked by
 * the key's policies in the form in which it leaves:
 *
 * - the body: exactly the bytes that were decided on, except for three values of the gateway's (the model's name, a cap
 *   on output that no rule objects to, and that a stream is to report its usage); or a body built from them, which is
 *   decided on as a request in the provider's dialect, because building it joins texts that were separate, or has members
 *   that the model list sets or removes;
 * - the client's headers and its query, and headers that the model list writes, as texts.
 *
 * Throws the refusal, request.unsupported if the target can't take the request, and request.thread_unsupported.
 */
export async function buildUpstreamRequest(
  exchange: Pick<Exchange, 'request' | 'lifetime'>,
  { decided, targets, query, decider, isLimited }: Outgoing,
  { target, check }: { readonly target: Target; readonly check: OutgoingCheck },
): Promise<UpstreamRequest> {
  const { endpoint, key, request, meta } = decided;
  const { provider, model, entry, known, choice } = target;
  const dialect = dialectAtTarget(target, endpoint) ?? endpoint.dialectName;
  const isSame = dialect === endpoint.dialectName;
  // Without a session each request that is spread may be for another account.
  const isAnywhere = target.share !== undefined && meta.sender?.session === undefined;
  if (!isSame || isAnywhere || target !== targets[0]) refuseThread(decided);
  if (isSame && (isAnywhere || target !== targets[0])) refuseKept(decided, { isAnywhere });

  const { host, options } = provider;
  const asksUsage = isLimited && provider.traitsFor(model).streamUsage === 'asked';
  const destination = {
    dialect,
    model,
    host,
    origin: provider.sealOrigin,
    family: options.dialect,
    entry,
    known,
    asksUsage,
    parameters: choice.parameters,
  };
  const method = isSame ? endpoint.call : methodFor(dialects[dialect], request.stream);
  const evaluate = () => {
    const head = check.head(
      { rawHeaders: exchange.request.rawHeaders, query: isSame && !hasModel(endpoint.call) ? query : '' },
      {
        dialect: dialects[dialect],
        extraNames: options.forwardHeaders,
        own: provider.ownHeaders,
        added: choice.headers ?? noHeaders,
      },
      options.name,
    );
    const call = { path: targetOf(method, model), model, stream: request.stream };
    return headFor(provider, call, head);
  };
  const { decision: own } = decided;
  // The flags of a header may have to be in the body, but only those that may leave.
  const ownHead = isSame ? evaluate() : undefined;
  const built = buildBody(decided, { ...destination, envelope: ownHead?.envelope });
  const redactedBy = own.verdicts.filter(isReplacing).map(({ policy }) => policy);
  const there = { ...meta, redactedBy, providers: [options.name], targetModels: [model] };
  if (built.form !== 'untranslated') {
    const head = ownHead ?? evaluate();
    if (built.changed.length === 0) {
      return finish(check, { built, replacement: replacementOf(own), masked: own.masked, ...head });
    }
    const decided = await decider.decideBody(
      key.policies,
      { body: built.body, dialect, meta: there },
      exchange.lifetime,
    );
    const { body, decision: onChanged } = check.body(decided);
    return finish(check, { built: { ...built, body }, ...withOwn(own, onChanged), ...head });
  }
  const translated = await decider.translateRequest(
    key.policies,
    { ...built, meta: there },
    exchange.lifetime,
  );
  const evaluated = evaluate();
  const passed = check.body(translated);
  const body = inEnvelope(passed.body, evaluated.envelope);
  const both = withOwn(own, passed.decision);
  return finish(check, { ...evaluated, built: { ...passed, body, form: 'translated' }, ...both });
}

const noHeaders: readonly StaticHeader[] = [];

/** What rules did to the client's body, and to the one that was built from it. Throws policy.blocked if placeholders clash. */
function withOwn(own: Pass, built: Pass): Pick<Checked, 'replacement' | 'masked'> {
  const masked = joinValues(own.masked ?? noValues, built.masked ?? noValues);
  if (masked === undefined) {
    const message = 'two values have the same placeholder';
    throw new GatewayError('policy.blocked', message, { reason: 'content.unredactable' });
  }
  return { replacement: replacementOf({ action: strictest([own.action, built.action]) }), masked };
}

/** Where a call goes at its host, and which of the checked headers it has there. */
function headFor(provider: Provider, call: CloudRequest, evaluated: EvaluatedHead) {
  const { headers, query, dropped, added } = evaluated;
  const path = provider.pathFor(call);
  const envelope = provider.envelopeFor(call);
  if (envelope !== undefined) {
    const filled = fillEnvelope(headers, envelope);
    return { path, ...filled, dropped: [...dropped, ...filled.dropped], added };
  }
  return {
    path: path + (path.includes('?') ? query.replace('?', '&') : query),
    headers,
    envelope,
    dropped,
    added,
  };
}

interface Checked {
  readonly path: string;
  readonly headers: string[];
  /** Headers that were left out because of their values. */
  readonly dropped: readonly string[];
  /** Names of the headers that the model list has written. */
  readonly added: readonly string[];
  readonly built: SameDialect | (PassedTranslation & { readonly form: 'translated' });
  /** What rules did to the body. */
  readonly replacement: 'masked' | 'redacted' | undefined;
  readonly masked: MaskedValues | undefined;
}

function finish(check: OutgoingCheck, checked: Checked): UpstreamRequest {
  const { path, headers, built, replacement, masked } = checked;
  // The client's own bytes were looked through when they came.
  check.login([path, ...headers], built.form === 'exact' ? undefined : built.body);
  const fields = built.form === 'translated' ? { translation: built.translation } : {};
  const dropped = built.form === 'translated' ? [...built.dropped, ...checked.dropped] : checked.dropped;
  const changed: readonly string[] = [...built.changed, ...checked.added.map((name) => `header:${name}`)];
  const form = replacement ?? built.form;
  // The one place that marks a request as approved by the policies.
  return {
    path,
    headers,
    body: built.body,
    credential: check.credential,
    form,
    hidesUsage: built.form !== 'translated' && built.hidesUsage,
    masked: masked?.size === 0 ? undefined : masked,
    dropped,
    changed,
    ...fields,
  } as UpstreamRequest;
}

function isReplacing({ action, mode }: Verdict): boolean {
  return replaces(action) && mode === 'enforce';
}

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

/**
 * What one account keeps is unknown to every other target and key. A client that has a session finds that account again;
 * where none may be asked but others, it gets what came of its own.
 */
function refuseKept(
  { decision: { kept } }: DecidedRequest,
  { isAnywhere }: { readonly isAnywhere: boolean },
): void {
  if (kept === undefined) return;
  const remedy = isAnywhere
    ? 'the model has several targets or keys: name the session in x-gateway-session, or send the content itself'
    : 'this is another one: send the content itself';
  throw new GatewayError(
    'request.unsupported',
    `${kept}: only the account that keeps what it names knows it, and ${remedy}`,
    { param: kept },
  );
}
