import type { ModelEntry } from '../../config/build/models.ts';
import type { Parameters } from '../../config/build/parameters.ts';
import type { ProviderConfig } from '../../config/build/providers.ts';
import { memberAt } from '../../dialects/dialect.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import { defaultCap, translatedCap } from '../../dialects/translation/context.ts';
import { mayHaveSeals, sealEdits } from '../../dialects/translation/foreign-seals.ts';
import type { Host } from '../../hosts/find-host.ts';
import { applyEdits, type ByteEdit, memberEdit, textEdit } from '../../json/byte-edits.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import type { KnownModel } from '../../limits/known-models.ts';
import type { DecidedRequest } from '../decision/decide-request.ts';
import { adjust } from '../decision/parameters.ts';
import type { UntranslatedRequest } from '../decision/translate-request.ts';
import { envelopeEdits, type FilledEnvelope } from './envelope.ts';

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
      seals: hasSeals ? sealEdits(request.document, dialect, { host, targetModel: model }) : [],
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
  if (edits.length === 0) return { form: 'exact', body: bytes, hidesUsage, changed: [] };
  return { form: 'spliced', body: applyEdits(bytes, edits), hidesUsage, changed: [] };
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
