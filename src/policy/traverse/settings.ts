import { type Dialect, requestsIn } from '../../dialects/dialect.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import { memoize } from '../../lib/memoize.ts';
import { answerSchemas } from './reading-order.ts';

const schemas = new Set(answerSchemas);

/** A name without case and separators: hosts spell the same setting `max_tokens`, `maxTokens` or `MAX_TOKENS`. */
export const lettersOf = memoize((name) => name.toLowerCase().replace(/[^a-z]/g, ''));

/**
 * The keys of everything in a request, however deep, but for the conversation, the tools and the schema of the answer, in
 * which names are only names.
 */
export function* settingsIn(document: JsonDocument, dialect: Dialect): Generator<number> {
  for (const request of requestsIn(document, dialect)) {
    for (let key = request + 1; key < document.next(request); key = document.next(key + 1)) {
      if (dialect.places.has(document.text(key))) continue;
      yield key;
      yield* keysInside(document, key + 1);
    }
  }
}

function* keysInside(document: JsonDocument, value: number): Generator<number> {
  const end = document.next(value);
  for (let key = document.nextKey(value); key < end; ) {
    const isSchema = schemas.has(document.text(key));
    if (!isSchema) yield key;
    key = document.nextKey(isSchema ? document.next(key + 1) : key + 1);
  }
}
