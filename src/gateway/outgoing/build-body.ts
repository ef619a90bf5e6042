import type { ModelEntry } from '../../config/build/models.ts';
import { memberAt } from '../../dialects/dialect.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import { defaultCap } from '../../dialects/translation/model-quirks.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import type { Host, ProviderFamily } from '../../providers/host.ts';
import type { DecidedRequest } from '../decision/decide.ts';
import { toSubject } from '../decision/decide-request.ts';
import type { UntranslatedRequest } from '../decision/translate-request.ts';

/** What must be known about a target to build a body for it. */
export interface Destination {
  /** The dialect in which it takes the request. */
  readonly dialect: DialectName;
  /** The model's name there. */
  readonly model: string;
  readonly host: Host;
  readonly family: ProviderFamily;
  readonly entry: ModelEntry | undefined;
  /** Whether it should be asked for the usage of a chat stream; false by default. */
  readonly asksUsage?: boolean;
}

/**
 * The client's bytes, with up to three values of the gateway's: the model's name there, a cap on output, and that a
 * stream is to report its usage, for which the client did not ask.
 */
export interface SameDialect {
  readonly form: 'exact' | 'spliced';
  readonly body: Buffer;
  readonly hidesUsage: boolean;
}

type Source = Pick<DecidedRequest, 'request' | 'endpoint' | 'key' | 'facts'>;

/**
 * The body of a decided request for a destination: the client's bytes, unchanged or with the model's name, a needed cap
 * on output and a request for the usage spliced in, or what is to be translated.
 */
export function buildBody(
  source: Source,
  destination: Destination,
): SameDialect | (UntranslatedRequest & { readonly form: 'untranslated' }) {
  const { request, endpoint, facts } = source;
  const { dialect, model, host, entry, asksUsage = false } = destination;
  const cap = neededCap(source, destination);
  if (dialect === endpoint.dialectName) {
    const isAsked = asksUsage && endpoint.dialect.hasUsageOption && request.stream;
    return splice(request, { model, cap, usage: isAsked ? usageEdit(request.document) : undefined });
  }
  const context = {
    requestedModel: request.model,
    targetModel: model,
    host,
    isStreaming: request.stream,
    createdS: Math.floor(facts.nowMs / 1_000),
    ...(entry?.maxOutputTokens === undefined ? {} : { maxOutputTokens: entry.maxOutputTokens }),
    ...(cap === undefined ? {} : { defaultMaxOutputTokens: cap }),
  };
  const { bytes } = request.document;
  return { form: 'untranslated', body: bytes, from: endpoint.dialectName, to: dialect, context, facts };
}

/**
 * The cap on output that is added because the dialect requires one and the client sent none: the model's, else
 * the default, but never one that a rule objects to. The sandbox needs none.
 */
function neededCap(
  { request: { document, capLimit }, endpoint, key, facts }: Source,
  { dialect, family, entry }: Destination,
): number | undefined {
  if (!dialects[dialect].needsCap || endpoint.kind !== 'exchange' || family === 'sandbox') return undefined;
  if (endpoint.dialect.caps.some((name) => isGiven(document, name))) return undefined;
  const wanted = entry?.maxOutputTokens ?? defaultCap;
  return Math.min(wanted, capLimit ?? key.policies.capLimit(toSubject(facts, document, endpoint.dialect)));
}

function isGiven(document: JsonDocument, name: string): boolean {
  const entry = memberAt(document, name);
  return entry !== undefined && document.kind(entry) !== kinds.null;
}

interface Wanted {
  readonly model: string;
  readonly cap: number | undefined;
  readonly usage: Edit | undefined;
}

/** Splices what is wanted into the client's bytes, if it differs from what the client sent. */
function splice({ document, model, modelEntries }: DecidedRequest['request'], wanted: Wanted): SameDialect {
  const { bytes } = document;
  const edits: Edit[] = [];
  const hidesUsage = wanted.usage !== undefined;
  if (wanted.model !== model) {
    for (const entry of modelEntries) {
      const before = document.text(entry).slice(0, -model.length);
      const text = JSON.stringify(before + wanted.model).slice(1, -1);
      edits.push({ start: document.start(entry), end: document.end(entry), text });
    }
  }
  if (wanted.cap !== undefined) edits.push(capEdit(document, wanted.cap));
  if (wanted.usage !== undefined) edits.push(wanted.usage);
  if (edits.length === 0) return { form: 'exact', body: bytes, hidesUsage };
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of edits.sort((one, other) => one.start - other.start)) {
    parts.push(bytes.subarray(at, start), Buffer.from(text));
    at = end;
  }
  parts.push(bytes.subarray(at));
  return { form: 'spliced', body: Buffer.concat(parts), hidesUsage };
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function capEdit(document: JsonDocument, cap: number): Edit {
  return memberEdit(document, document.root, { name: 'max_tokens', value: String(cap) });
}

/** Undefined if the client asks for the usage itself, or for something that no host can read. */
function usageEdit(document: JsonDocument): Edit | undefined {
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

/** Replaces a member's value, else the member becomes the first one of its object. */
function memberEdit(
  document: JsonDocument,
  object: number,
  { name, value }: { readonly name: string; readonly value: string },
): Edit {
  const entry = document.member(object, name);
  if (entry !== undefined) return { start: document.start(entry), end: document.end(entry), text: value };
  const start = document.start(object) + 1;
  const isEmpty = document.next(object) === object + 1;
  return { start, end: start, text: `"${name}":${value}${isEmpty ? '' : ','}` };
}
