import type { FailureCode } from '../../errors.ts';
import type { DocumentParts } from '../../json/json-document.ts';
import { JsonDocument } from '../../json/json-document.ts';
import type { Decision } from '../../policy/rule.ts';
import type { ModelRequest } from '../request.ts';

// What goes between the gateway's thread and the one that decides. Bodies are not copied: their memory moves
// there with the question and comes back with the answer, so each thread has either all of it or nothing.

export type ThreadQuestion =
  | { readonly kind: 'read'; readonly path: string; readonly body: Uint8Array }
  | {
      readonly kind: 'judge';
      readonly path: string;
      readonly request: RequestParts;
      readonly key: { readonly id: string; readonly project: string };
      readonly policies: readonly string[];
      readonly targetModels: readonly string[];
      readonly nowMs: number;
    };

export type ThreadAnswer =
  | { readonly kind: 'read'; readonly request: RequestParts }
  | {
      readonly kind: 'judged';
      readonly decision: Decision;
      readonly request: RequestParts;
      readonly answerRules: readonly number[];
    }
  /** The strict gate refuses the body. */
  | {
      readonly kind: 'refused';
      readonly code: FailureCode;
      readonly message: string;
      readonly param?: string | undefined;
    }
  | { readonly kind: 'failed'; readonly cause: string };

/** A request as it can be sent to another thread. */
export interface RequestParts extends Omit<ModelRequest, 'document'> {
  readonly document: DocumentParts;
}

export function toParts({ document, ...fields }: ModelRequest): RequestParts {
  return { document: document.toParts(), ...fields };
}

export function fromParts({ document, ...fields }: RequestParts): ModelRequest {
  return { document: JsonDocument.fromParts(document), ...fields };
}

/** The memory of a request that moves with a message. Small buffers share theirs with others: they are copied. */
export function memoryOf({ document: { bytes, tape } }: RequestParts): readonly ArrayBuffer[] {
  return [bytes, tape].flatMap(({ buffer, byteLength }) =>
    buffer instanceof ArrayBuffer && byteLength >= Buffer.poolSize ? [buffer] : [],
  );
}
