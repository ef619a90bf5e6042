import type { FieldTable } from './field-table.ts';
import type { Dropped, Fields } from './fields.ts';
import type { TranslationContext } from './translation/model-quirks.ts';
import type { Usage } from './usage.ts';

/** The neutral form in which dialects of embeddings meet: texts, and a vector for each. */
export interface EmbeddingRequest {
  readonly texts: readonly string[];
  /** The length of the vectors, if the client asks for one. */
  readonly dimensions?: number | undefined;
  readonly user?: string | undefined;
}

export interface Embeddings {
  readonly vectors: readonly (readonly unknown[])[];
  readonly usage?: Usage | undefined;
}

/** How a dialect's requests and answers become the neutral form, and come out of it. */
export interface EmbeddingCodec {
  /** The request with each of its top-level fields in one spelling, if there are several. */
  normalize?(body: Fields): Fields;
  parseRequest(body: Fields, dropped: Dropped): EmbeddingRequest;
  buildRequest(request: EmbeddingRequest, context: TranslationContext, dropped: Dropped): Fields;
  /** Throws provider.broken_response. */
  parseAnswer(body: Fields): Embeddings;
  /** What the form of an answer depends on: plain data of the client's request. */
  echoOf(request: Fields): Fields;
  buildAnswer(answer: Embeddings, context: TranslationContext, echo: Fields): Fields;
  /** What becomes of the fields of its requests, by the provider's dialect. */
  readonly fieldsTo: Readonly<Record<string, FieldTable>>;
}
