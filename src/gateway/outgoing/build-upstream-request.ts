import type { ModelEntry } from '../../config/build/models.ts';
import type { Parameters, StaticHeader } from '../../config/build/parameters.ts';
import type { ProviderConfig } from '../../config/build/providers.ts';
import { memberAt, methodFor } from '../../dialects/dialect.ts';
import { hasModel, targetOf } from '../../dialects/model-path.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import { defaultCap, translatedCap } from '../../dialects/translation/context.ts';
import { mayHaveSeals, sealEdits } from '../../dialects/translation/foreign-seals.ts';
import { GatewayError } from '../../errors.ts';
import type { Host } from '../../hosts/find-host.ts';
import { applyEdits, type ByteEdit, memberEdit, textEdit } from '../../json/byte-edits.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import type { Lifetime } from '../../lib/lifetime.ts';
import type { KnownModel } from '../../limits/known-models.ts';
import { joinValues, type MaskedValues, noValues } from '../../policy/mask/masked-values.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import { type Decision, type Pass, replaces, strictest, type Verdict } from '../../policy/rule.ts';
import type { ProviderRequest } from '../../providers/attempt.ts';
import type { CloudRequest } from '../../providers/clouds/clouds.ts';
import type { Target } from '../../providers/route.ts';
import type { DecidedRequest, RequestMeta } from '../decision/decide-request.ts';
import type { Decider } from '../decision/decider.ts';
import { adjust } from '../decision/parameters.ts';
import type {
  PassedTranslation,
  RequestTranslation,
  UntranslatedRequest,
} from '../decision/translate-request.ts';
import { dialectAtTarget } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import type { RoutedRequest } from '../route.ts';
import { envelopeEdits, type FilledEnvelope, fillEnvelope, inEnvelope } from './envelope.ts';
import type { OutgoingCheck } from './outgoing-check.ts';

/** A checked request in the form for one target, and what is needed to pass its answer back. */
export interface UpstreamRequest extends ProviderRequest {
  /** What became of the client's bytes. */
  readonly form: 'exact' | 'spliced' | 'translated' | 'masked' | 'redacted';
  /** The values to restore in the answer; absent if none was masked. */
  readonly masked?: MaskedValues | undefined;
  /** Absent if the provider speaks the client's dialect, so that its answer is passed on as it is. */
  readonly translation?: RequestTranslation | undefined;
  /** Whether the gateway asked for the usage of the stream and the client did not. */
  readonly hidesUsage: boolean;
  /** Fields and headers that were left out. */
  readonly dropped: readonly string[];
  /** Members and headers that the model list has changed. */
  readonly changed: readonly string[];
}

export interface Outgoing {
  readonly routed: RoutedRequest;
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
 * What need not be decided on again is returned without a promise. Throws the refusal, request.unsupported if the target
 * can't take the request, and request.thread_unsupported.
 */
export function buildUpstreamRequest(
  exchange: Pick<Exchange, 'request' | 'lifetime'>,
  { routed: { decided, targets }, query, decider, isLimited }: Outgoing,
  { target, check }: { readonly target: Target; readonly check: OutgoingCheck },
): UpstreamRequest | Promise<UpstreamRequest> {
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
  const method = isSame ? endpoint.call : methodFor(dialects[dialect], request.stream);
  const unchecked: UncheckedHead = {
    rawHeaders: exchange.request.rawHeaders,
    query: isSame && !hasModel(endpoint.call) ? query : '',
    target,
    dialect,
    call: { path: targetOf(method, model), model, stream: request.stream },
  };
  const { decision: own } = decided;
  // The flags of a header may have to be in the body, but only those that may leave.
  const ownHead = isSame ? headFor(unchecked, check) : undefined;
  const built = buildBody(decided, {
    dialect,
    model,
    host,
    origin: provider.sealOrigin,
    family: options.dialect,
    entry,
    known,
    asksUsage,
    parameters: choice.parameters,
    envelope: ownHead?.envelope,
  });
  if (built.form !== 'untranslated' && built.changed.length === 0) {
    const head = ownHead ?? headFor(unchecked, check);
    return finish(check, head, { built, replacement: replacementOf(own), masked: own.masked });
  }
  const redactedBy = own.verdicts.filter(isReplacing).map(({ policy }) => policy);
  const metaThere = { ...meta, redactedBy, providers: [options.name], targetModels: [model] };
  const again = { policies: key.policies, own, meta: metaThere, check, decider, lifetime: exchange.lifetime };
  return built.form === 'untranslated'
    ? translatedRequest(built, again, unchecked)
    : changedRequest({ ...built, dialect }, again, ownHead ?? headFor(unchecked, check));
}

/** What a body that was built from the client's is decided on with. */
interface BuiltDecision {
  readonly policies: PolicySet;
  /** What was decided on the client's own. */
  readonly own: Pass;
  readonly meta: RequestMeta;
  readonly check: OutgoingCheck;
  readonly decider: Decider;
  readonly lifetime: Lifetime;
}

async function changedRequest(
  built: SameDialect & { readonly dialect: DialectName },
  { policies, own, meta, check, decider, lifetime }: BuiltDecision,
  head: CheckedHead,
): Promise<UpstreamRequest> {
  const { body, dialect } = built;
  const decided = await decider.decideBody(policies, { body, dialect, meta }, lifetime);
  const passed = check.body(decided);
  return finish(check, head, { built: { ...built, body: passed.body }, ...withOwn(own, passed.decision) });
}

async function translatedRequest(
  built: UntranslatedRequest,
  { policies, own, meta, check, decider, lifetime }: BuiltDecision,
  unchecked: UncheckedHead,
): Promise<UpstreamRequest> {
  const passed = check.body(await decider.translateRequest(policies, { ...built, meta }, lifetime));
  const head = headFor(unchecked, check);
  const body = inEnvelope(passed.body, head.envelope);
  const both = withOwn(own, passed.decision);
  return finish(check, head, { built: { ...passed, body, form: 'translated' }, ...both });
}

const none: readonly string[] = [];
const noEdits: readonly ByteEdit[] = [];
const noHeaders: readonly StaticHeader[] = [];

/** What rules did to the client's body, and to the one that was built from it. Throws policy.blocked if placeholders clash. */
function withOwn(own: Pass, built: Pass): Pick<CheckedBody, 'replacement' | 'masked'> {
  const masked = joinValues(own.masked ?? noValues, built.masked ?? noValues);
  if (masked === undefined) {
    const message = 'two values have the same placeholder';
    throw new GatewayError('policy.blocked', message, { reason: 'content.unredactable' });
  }
  return { replacement: replacementOf({ action: strictest([own.action, built.action]) }), masked };
}

/** What a request's head is made of. */
interface UncheckedHead {
  readonly rawHeaders: readonly string[];
  /** Without its question mark; empty if none of it may leave. */
  readonly query: string;
  readonly target: Target;
  /** The dialect in which the target takes the request. */
  readonly dialect: DialectName;
  readonly call: CloudRequest;
}

type CheckedHead = ReturnType<typeof headFor>;

/** Where a call goes at its host, and which of the checked headers it has there. */
function headFor(unchecked: UncheckedHead, check: OutgoingCheck) {
  const { target, call } = unchecked;
  const { provider } = target;
  const { headers, query, dropped, added } = check.head(unchecked, {
    dialect: dialects[unchecked.dialect],
    extraNames: provider.options.forwardHeaders,
    own: provider.ownHeaders,
    added: target.choice.headers ?? noHeaders,
    provider: provider.options.name,
  });
  const path = provider.pathFor(call);
  const envelope = provider.envelopeFor(call);
  if (envelope !== undefined) {
    const filled = fillEnvelope(headers, envelope);
    return { path, ...filled, dropped: [...dropped, ...filled.dropped], added };
  }
  return {
    path: query === '' ? path : path + (path.includes('?') ? query.replace('?', '&') : query),
    headers,
    envelope,
    dropped,
    added,
  };
}

interface CheckedBody {
  readonly built: SameDialect | (PassedTranslation & { readonly form: 'translated' });
  /** What rules did to the body. */
  readonly replacement: 'masked' | 'redacted' | undefined;
  readonly masked: MaskedValues | undefined;
}

function finish(
  check: OutgoingCheck,
  head: CheckedHead,
  { built, replacement, masked }: CheckedBody,
): UpstreamRequest {
  const { path, headers, added } = head;
  // The client's own bytes were looked through when they came.
  check.login(head, built.form === 'exact' ? undefined : built.body);
  const isTranslated = built.form === 'translated';
  const dropped = isTranslated ? [...built.dropped, ...head.dropped] : head.dropped;
  const changed =
    added.length === 0 ? built.changed : [...built.changed, ...added.map((name) => `header:${name}`)];
  const form = replacement ?? built.form;
  // The one place that marks a request as approved by the policies.
  return {
    path,
    headers,
    body: built.body,
    credential: check.credential,
    form,
    translation: isTranslated ? built.translation : undefined,
    hidesUsage: !isTranslated && built.hidesUsage,
    masked: masked?.size === 0 ? undefined : masked,
    dropped,
    changed,
  } as UpstreamRequest;
}

function isReplacing({ action, mode }: Verdict): boolean {
  return replaces(action) && mode === 'enforce';
}

function replacementOf({ action }: Pick<Decision, 'action'>): CheckedBody['replacement'] {
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

/** What must be known about a target to build a body for it. */
export interface BodyTarget {
  /** The dialect in which it takes the request. */
  readonly dialect: DialectName;
  /** The model's name there. */
  readonly model: string;
  readonly host: Host;
  readonly origin: string;
  readonly family: ProviderConfig['dialect'];
  readonly entry: ModelEntry | undefined;
  /** What is known of the model without the entry. */
  readonly known?: KnownModel | undefined;
  /** What the model list changes in bodies for it. */
  readonly parameters?: Parameters | undefined;
  /** Whether it should be asked for the usage of a chat stream; false by default. */
  readonly asksUsage?: boolean;
  /** Set if it takes the dialect's bodies in another form; translated bodies are put in it once they are decided on. */
  readonly envelope?: FilledEnvelope | undefined;
}

/**
 * The client's bytes, with up to three values of the gateway's: the model's name there, a cap on output, and that a
 * stream is to report its usage, for which the client did not ask; and without what the gateway has sealed in answers of
 * another host.
 */
export interface SameDialect {
  readonly form: 'exact' | 'spliced';
  readonly body: Buffer;
  readonly hidesUsage: boolean;
  /** Members that the model list has changed, by their paths: the body is then to be decided on once more. */
  readonly changed: readonly string[];
}

type BodySource = Pick<DecidedRequest, 'request' | 'endpoint' | 'meta'>;

/**
 * The body of a decided request for a destination: the client's bytes, unchanged or with the model's name, a needed cap
 * on output and a request for the usage spliced in, or what is to be translated.
 */
export function buildBody(
  source: BodySource,
  destination: BodyTarget,
): SameDialect | (UntranslatedRequest & { readonly form: 'untranslated' }) {
  const { request, endpoint, meta } = source;
  const { dialect, model, host, origin, entry, envelope, asksUsage = false } = destination;
  const isTranslated = dialect !== endpoint.dialectName;
  const cap = neededCap(source, destination);
  // What counts tokens, embeds texts or compacts a conversation knows nothing of how an answer is generated.
  const isHelper = endpoint.kind === 'count' || endpoint.call.isUntranslatable === true;
  const generates = !isHelper && dialects[dialect].operation === 'chat';
  const parameters = generates ? destination.parameters : undefined;
  if (!isTranslated) {
    const hasSeals = request.mayHaveSeals ?? mayHaveSeals(request.document, dialect);
    const isAsked = asksUsage && endpoint.dialect.hasUsageOption && request.stream;
    const spliced = splice(request, {
      model,
      cap,
      envelope,
      usage: isAsked ? usageEdit(request.document) : undefined,
      seals: hasSeals ? sealEdits(request.document, dialect, { host, targetModel: model }) : noEdits,
    });
    if (parameters === undefined) return spliced;
    const adjusted = adjust(spliced.body, parameters);
    return adjusted.changed.length === 0 ? spliced : { ...spliced, ...adjusted, form: 'spliced' };
  }
  const most = knownCap(destination);
  const context = {
    requestedModel: request.model,
    targetModel: model,
    host,
    origin,
    isStreaming: request.stream,
    createdS: Math.floor(meta.nowMs / 1_000),
    ...(most !== undefined && { maxOutputTokens: most }),
    ...(cap === undefined ? {} : { defaultMaxOutputTokens: cap }),
    ...(entry?.promptCache && { promptCache: entry.promptCache }),
    ...(entry?.unsupportedContent && { unsupportedContent: entry.unsupportedContent }),
    outputCeiling: Math.min(maxCap(destination), request.capLimit ?? Number.POSITIVE_INFINITY),
  };
  const { bytes } = request.document;
  return {
    ...{ form: 'untranslated', body: bytes, from: endpoint.dialectName, to: dialect, context, meta },
    ...(parameters !== undefined && { parameters }),
  };
}

/**
 * The cap on output that is added because the dialect requires one and the client sent none: the model's, else
 * the default, but never one that a rule objects to. The sandbox needs none.
 */
function neededCap(source: BodySource, destination: BodyTarget): number | undefined {
  const { endpoint, request } = source;
  const { dialect, family, entry } = destination;
  if (!dialects[dialect].needsCap || endpoint.kind !== 'exchange' || family === 'sandbox') return undefined;
  if (endpoint.dialect.caps.some((name) => isGiven(request.document, name))) return undefined;
  const isTranslated = dialect !== endpoint.dialectName;
  const wanted = isTranslated ? maxCap(destination) : (entry?.maxOutputTokens ?? defaultCap);
  return Math.min(wanted, request.capLimit ?? Number.POSITIVE_INFINITY);
}

/** What a model can write, as far as is known, for a client that has no such cap in its dialect. */
function maxCap(destination: Pick<BodyTarget, 'entry' | 'known'>): number {
  return knownCap(destination) ?? translatedCap;
}

/** What a model can write at most: clients of other vendors ask for what theirs can. */
function knownCap({ entry, known }: Pick<BodyTarget, 'entry' | 'known'>): number | undefined {
  return entry?.maxOutputTokens ?? known?.maxOutputTokens;
}

function isGiven(document: JsonDocument, name: string): boolean {
  const entry = memberAt(document, name);
  return entry !== undefined && document.kind(entry) !== kinds.null && document.raw(entry) !== '-1';
}

interface Wanted {
  readonly model: string;
  readonly cap: number | undefined;
  readonly usage: ByteEdit | undefined;
  readonly envelope: FilledEnvelope | undefined;
  readonly seals: readonly ByteEdit[];
}

/** Splices what is wanted into the client's bytes, if it differs from what the client sent. */
function splice({ document, model, modelEntries }: DecidedRequest['request'], wanted: Wanted): SameDialect {
  const { bytes } = document;
  const edits: ByteEdit[] = [];
  const hidesUsage = wanted.usage !== undefined;
  const { envelope } = wanted;
  if (wanted.model !== model && envelope?.pathMembers.includes('model') !== true) {
    for (const entry of modelEntries) {
      const before = document.text(entry).slice(0, -model.length);
      edits.push(textEdit(document, entry, before + wanted.model));
    }
  }
  if (wanted.cap !== undefined) edits.push(capEdit(document, wanted.cap));
  if (wanted.usage !== undefined) edits.push(wanted.usage);
  if (envelope !== undefined) edits.push(...envelopeEdits(document, envelope));
  edits.push(...wanted.seals);
  if (edits.length === 0) return { form: 'exact', body: bytes, hidesUsage, changed: none };
  return { form: 'spliced', body: applyEdits(bytes, edits), hidesUsage, changed: none };
}

function capEdit(document: JsonDocument, cap: number): ByteEdit {
  return memberEdit(document, document.root, { name: 'max_tokens', value: String(cap) });
}

/** Undefined if the client asks for the usage itself, or for something that no host can read. */
function usageEdit(document: JsonDocument): ByteEdit | undefined {
  const { root } = document;
  const options = document.member(root, 'stream_options');
  if (options === undefined || document.kind(options) === kinds.null) {
    return memberEdit(document, root, { name: 'stream_options', value: '{"include_usage":true}' });
  }
  if (document.kind(options) !== kinds.object) return undefined;
  const asked = document.member(options, 'include_usage');
  if (asked !== undefined && document.kind(asked) === kinds.true) return undefined;
  return memberEdit(document, options, { name: 'include_usage', value: 'true' });
}
