import { randomBytes } from 'node:crypto';
import type { ModelEntry } from '../../config/build/models.ts';
import type { TextDialect } from '../../dialects/dialect.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import { createTranslation, type Translation } from '../../dialects/translate.ts';
import { defaultCap } from '../../dialects/translation/model-quirks.ts';
import { GatewayError } from '../../errors.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import type { Host, ProviderFamily } from '../../providers/host.ts';
import { toSubject } from '../decision/decide-request.ts';
import type { DecidedRequest } from '../decision/decided-request.ts';

/** What must be known about a target to build a body for it. */
export interface Destination {
  /** The dialect in which it takes the request. */
  readonly dialect: DialectName;
  /** The model's name there. */
  readonly model: string;
  readonly host: Host;
  readonly family: ProviderFamily;
  readonly entry: ModelEntry | undefined;
}

export type BuiltRequest =
  /** The client's bytes, with up to two values of the gateway's: the model's name there, and a cap on output. */
  | { readonly form: 'exact' | 'spliced'; readonly body: Buffer }
  | {
      readonly form: 'translated';
      readonly body: Buffer;
      readonly translation: Translation;
      /** Fields that were left out. */
      readonly dropped: readonly string[];
    };

type Source = Pick<DecidedRequest, 'request' | 'endpoint' | 'key' | 'facts'>;

/**
 * The body of a decided request for a destination: the client's bytes, unchanged or with the model's name and a needed
 * cap on output spliced in, or a translation. Throws request.unsupported if the destination can't take the request.
 */
export function buildBody(source: Source, destination: Destination): BuiltRequest {
  const { request, endpoint, facts } = source;
  const { dialect, model, host, entry } = destination;
  const cap = neededCap(source, destination);
  if (dialect === endpoint.dialectName) return splice(request, model, cap);
  // dialectAt names another dialect only if both can be translated.
  const translation = createTranslation(endpoint.dialect as TextDialect, dialects[dialect] as TextDialect, {
    requestedModel: request.model,
    targetModel: model,
    host,
    newId: (prefix) => prefix + randomBytes(12).toString('hex'),
    createdS: Math.floor(facts.nowMs / 1_000),
    ...(entry?.maxOutputTokens === undefined ? {} : { maxOutputTokens: entry.maxOutputTokens }),
    ...(cap === undefined ? {} : { defaultMaxOutputTokens: cap }),
  });
  const { body, dropped } = translation.request(JSON.parse(request.document.bytes.toString()));
  return { form: 'translated', body: toBytes(body), translation, dropped };
}

/** Arguments of calls are texts in some dialects and objects in others, so a body may become deeper by translation. */
function toBytes(body: unknown): Buffer {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (cause) {
    throw new GatewayError('request.too_deep', 'the translated body is nested too deeply', { cause });
  }
}

/**
 * The cap on output that is added because the Messages dialect requires one and the client sent none: the model's, else
 * the default, but never one that a rule objects to. The sandbox needs none.
 */
function neededCap(
  { request: { document }, endpoint, key, facts }: Source,
  { dialect, family, entry }: Destination,
): number | undefined {
  if (dialect !== 'messages' || endpoint.kind !== 'exchange' || family === 'sandbox') return undefined;
  if (endpoint.dialect.caps.some((name) => isGiven(document, name))) return undefined;
  const wanted = entry?.maxOutputTokens ?? defaultCap;
  return Math.min(wanted, key.policies.capLimit(toSubject(facts, document, endpoint.dialect)));
}

function isGiven(document: JsonDocument, name: string): boolean {
  const entry = document.member(document.root, name);
  return entry !== undefined && document.kind(entry) !== kinds.null;
}

/** Splices the model's name and the cap into the client's bytes, if they differ from what it sent. */
function splice(
  { document, model, modelEntry }: DecidedRequest['request'],
  targetModel: string,
  cap: number | undefined,
): BuiltRequest {
  const { bytes } = document;
  const edits: Edit[] = [];
  if (targetModel !== model) {
    const text = JSON.stringify(targetModel).slice(1, -1);
    edits.push({ start: document.start(modelEntry), end: document.end(modelEntry), text });
  }
  if (cap !== undefined) edits.push(capEdit(document, cap));
  if (edits.length === 0) return { form: 'exact', body: bytes };
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of edits.sort((one, other) => one.start - other.start)) {
    parts.push(bytes.subarray(at, start), Buffer.from(text));
    at = end;
  }
  parts.push(bytes.subarray(at));
  return { form: 'spliced', body: Buffer.concat(parts) };
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Replaces a `null`, else becomes the first member: there is always another one, the model. */
function capEdit(document: JsonDocument, cap: number): Edit {
  const entry = document.member(document.root, 'max_tokens');
  if (entry !== undefined) {
    return { start: document.start(entry), end: document.end(entry), text: String(cap) };
  }
  const start = document.start(document.root) + 1;
  return { start, end: start, text: `"max_tokens":${cap},` };
}
