import { buildModelFinder, type ModelEntry } from '../../config/build/models.ts';
import type { TranslatedFacts } from '../../dialects/translate.ts';
import { GatewayError } from '../../errors.ts';
import { type DocumentParts, JsonDocument } from '../../json/json-document.ts';
import { memoize } from '../../memoize.ts';
import type { PolicySource } from '../../policy/compile.ts';
import type { Decision } from '../../policy/rule.ts';
import { chooseTargets } from '../../providers/route.ts';
import type { ModelRequest } from '../request.ts';
import type { AnswerReader, ReadAnswer } from './read-answer.ts';
import type { RequestTranslation, UntranslatedRequest } from './translate-request.ts';

// The messages between the main thread and the decision thread. Bodies are not copied: their memory is transferred with
// the question and transferred back with the answer, so only one thread has it at any time.

/** What the thread is started with. */
export interface ThreadData extends ModelNames {
  readonly source: PolicySource;
}

export type ThreadQuestion =
  /** A client's body, to be parsed strictly and decided on. */
  | {
      readonly kind: 'request';
      readonly path: string;
      readonly pathModel: string | undefined;
      readonly body: Uint8Array;
      readonly key: { readonly id: string; readonly project: string };
      readonly policies: readonly string[];
      readonly nowMs: number;
    }
  /** A decided request, to be decided on again in the dialect of its provider. */
  | (UntranslatedRequest & { readonly kind: 'translation'; readonly policies: readonly string[] })
  /** A provider's whole answer, to be translated and checked. */
  | (AnswerParts & { readonly kind: 'answer' });

/** What `readAnswer` needs, as plain data. */
export interface AnswerParts extends Pick<AnswerReader, 'form' | 'answerRules' | 'masked'> {
  readonly path: string;
  readonly body: Uint8Array;
  readonly policies: readonly string[];
  readonly secrets: readonly string[];
  readonly translation: (RequestTranslation['pair'] & { readonly translated: TranslatedFacts }) | undefined;
}

export type ThreadAnswer =
  | {
      readonly kind: 'request';
      readonly decision: Decision;
      readonly request: RequestParts;
      readonly answerRules: readonly number[];
      readonly microseconds: number;
    }
  | {
      readonly kind: 'translation';
      readonly decision: Decision;
      readonly body: Uint8Array;
      readonly microseconds: number;
      readonly dropped: readonly string[];
      readonly translated: TranslatedFacts;
    }
  | (Omit<ReadAnswer, 'result'> & { readonly kind: 'answer'; readonly result: Uint8Array | ErrorParts })
  /** Strict parsing or the translation refused the body. */
  | { readonly kind: 'refused'; readonly error: ErrorParts }
  | { readonly kind: 'failed'; readonly cause: string };

/** A GatewayError as it can be sent to another thread. */
export interface ErrorParts extends Pick<GatewayError, 'code' | 'message' | 'reason' | 'param'> {
  /** A thrown value may contain anything; only its text can safely be sent. */
  readonly cause: string | undefined;
}

export function toErrorParts({ code, message, reason, param, cause }: GatewayError): ErrorParts {
  return { code, message, reason, param, cause: cause === undefined ? undefined : String(cause) };
}

export function fromErrorParts({ code, message, reason, param, cause }: ErrorParts): GatewayError {
  return new GatewayError(code, message, { reason, ...(param !== undefined && { param }), cause });
}

/** A request as it can be sent to another thread. */
interface RequestParts extends Omit<ModelRequest, 'document'> {
  readonly document: DocumentParts;
}

export function toParts({ document, ...fields }: ModelRequest): RequestParts {
  return { document: document.toParts(), ...fields };
}

export function fromParts({ document, ...fields }: RequestParts): ModelRequest {
  return { document: JsonDocument.fromParts(document), ...fields };
}

/** The memory of the arrays that a message can transfer. Small buffers share a pool, so they are copied instead. */
export function memoryOf(...arrays: readonly (Uint8Array | Int32Array)[]): readonly ArrayBuffer[] {
  return arrays.flatMap(({ buffer, byteLength }) =>
    buffer instanceof ArrayBuffer && byteLength >= Buffer.poolSize ? [buffer] : [],
  );
}

/** The configured models and providers as plain data, for the decision thread. */
export interface ModelNames {
  readonly models: readonly ModelEntry[];
  /** The names of the configured providers. */
  readonly providers: readonly string[];
}

/** Finds what a model is called at each provider that may be tried; empty if no provider serves it. */
export function createTargetModels({ models, providers }: ModelNames): (model: string) => readonly string[] {
  const findModel = buildModelFinder(models);
  const configured = new Map(providers.map((name) => [name, name]));
  return memoize((name) => {
    const entry = findModel(name);
    return entry === undefined ? [] : chooseTargets(entry, name, configured).map(({ model }) => model);
  });
}
