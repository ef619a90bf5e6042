import { randomBytes } from 'node:crypto';
import type { Parameters } from '../../config/build/parameters.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import { type AnswerContext, createTranslation, type Translation } from '../../dialects/translate.ts';
import type { TranslationContext } from '../../dialects/translation/context.ts';
import { GatewayError } from '../../errors.ts';
import type { Checkpoint } from '../../policy/checkpoint.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import { type BodyDecision, decideBody, type RequestMeta } from './decide-request.ts';
import { adjust } from './parameters.ts';

/** A decided request that is to be translated, as plain data: it is sent to the decision thread too. */
export interface UntranslatedRequest {
  readonly body: Uint8Array;
  readonly from: DialectName;
  readonly to: DialectName;
  readonly context: Omit<TranslationContext, 'newId'>;
  /** Of the client's request. */
  readonly meta: RequestMeta;
  /** What the model list changes in the provider's body. */
  readonly parameters?: Parameters;
}

/** The provider's request, and the decision on it. */
export type TranslatedRequest = Extract<BodyDecision, { kind: 'blocked' }> | PassedTranslation;

export type PassedTranslation = Extract<BodyDecision, { kind: 'passed' }> & {
  /** Fields that were left out. */
  readonly dropped: readonly string[];
  /** Members that the model list has changed, by their paths. */
  readonly changed: readonly string[];
  readonly translation: RequestTranslation;
};

type TranslatedPair = Pick<UntranslatedRequest, 'from' | 'to' | 'context'>;

/** With its `AnswerContext`, another thread can make the same one of what it is between. */
export interface RequestTranslation extends Translation {
  readonly pair: TranslatedPair;
}

/**
 * Translates a request and applies the policies to what it becomes; runs in any thread. Throws request.unsupported if
 * it can't be translated, and what strict parsing throws.
 */
export function translateRequest(
  policies: PolicySet,
  untranslated: UntranslatedRequest,
  checkpoint?: Checkpoint,
): TranslatedRequest {
  const { to, meta } = untranslated;
  const { body, ...rest } = translateBody(untranslated);
  const decided = decideBody(policies, { body, dialect: to, meta }, checkpoint);
  return decided.kind === 'blocked' ? decided : { ...decided, ...rest };
}

export function translateBody(
  untranslated: UntranslatedRequest,
): Pick<PassedTranslation, 'body' | 'dropped' | 'changed' | 'translation'> {
  const translation = translationOf(untranslated);
  const { body, dropped } = translation.request(JSON.parse(toBuffer(untranslated.body).toString()));
  const { parameters } = untranslated;
  const bytes = toBytes(body);
  const adjusted = parameters === undefined ? { body: bytes, changed: [] } : adjust(bytes, parameters);
  return { ...adjusted, dropped, translation };
}

/** With the `AnswerContext` of a request that was translated in another thread. */
export function translationOf(
  { from, to, context }: TranslatedPair,
  translated?: AnswerContext,
): RequestTranslation {
  const newId = (prefix: string) => prefix + randomBytes(12).toString('hex');
  const translation = createTranslation(dialects[from], dialects[to], { ...context, newId }, translated);
  return { ...translation, pair: { from, to, context } };
}

/** Arguments of calls are texts in some dialects and objects in others, so a body may become deeper by translation. */
function toBytes(body: unknown): Buffer {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (cause) {
    throw new GatewayError('request.too_deep', 'the translated body is nested too deeply', { cause });
  }
}

/** The same memory: bytes from another thread are a plain array. */
export function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
