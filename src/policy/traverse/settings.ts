import { type Dialect, requestsIn } from '../../dialects/dialect.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import { memoize } from '../../lib/memoize.ts';
import { answerSchemas } from './reading-order.ts';

/** What holds a client's own data or the schema of its answer, in any host's words. */
const dataMembers = new Set([
  ...answerSchemas,
  ...['metadata', 'client_metadata', 'labels', 'variables'],
  ...['format', 'json_schema', 'structured_outputs', 'guided_json'],
  ...['_responseJsonSchema', '_response_json_schema'],
  // In any other schema.
  ...['properties', '$defs'],
]);

/** A name without case and separators: hosts spell the same setting `max_tokens`, `maxTokens` or `MAX_TOKENS`. */
export const lettersOf = memoize((name) => name.toLowerCase().replace(/[^a-z]/g, ''));

/**
 * The keys of everything in a request, however deep, but for the conversation, the tools, the client's own data and the
 * schema of the answer, in which names are only names.
 */
export function* settingsIn(document: JsonDocument, dialect: Dialect): Generator<number> {
  for (const request of requestsIn(document, dialect)) {
    for (let key = request + 1; key < document.next(request); key = document.next(key + 1)) {
      const name = document.text(key);
      if (dialect.places.has(name) || dataMembers.has(name)) continue;
      yield key;
      yield* keysInside(document, key + 1);
    }
  }
}

function* keysInside(document: JsonDocument, value: number): Generator<number> {
  const end = document.next(value);
  for (let key = document.nextKey(value); key < end; ) {
    const isData = dataMembers.has(document.text(key));
    if (!isData) yield key;
    key = document.nextKey(isData ? document.next(key + 1) : key + 1);
  }
}
