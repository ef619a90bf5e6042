import type { JsonDocument } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import { parseNested } from '../traverse/encoded.ts';
import { wrapText } from '../traverse/place.ts';

/** An answer, or the data of one event, as the rules read it. */
export interface AnswerText {
  /** The answer's document; if the answer is not an object, one that has it as its only member. */
  readonly document: JsonDocument;
  /** Turns the document's bytes, after replacements, back into the answer. */
  readonly unwrap: (bytes: Buffer) => Buffer;
}

/**
 * Reads what a provider sent: a JSON object, another JSON value, or a plain text. Undefined for something that begins
 * like an object but is not strict JSON (a duplicate key, `NaN`): clients read it in different ways, so its texts, and
 * which of them continue in the next event, are not known.
 */
export function readAnswerText(bytes: Buffer): AnswerText | undefined {
  const object = parseObject(bytes);
  if (object !== undefined) return { document: object, unwrap: (replaced) => replaced };
  const text = bytes.toString('utf8');
  const value = parseNested(text);
  if (value !== undefined) return { document: value, unwrap: (replaced) => replaced.subarray(4, -1) };
  return /^\s*\{/.test(text) ? undefined : readPlain(text);
}

/** The same for a text that is always read literally. */
export function readPlain(text: string): AnswerText {
  return {
    document: wrapText(text),
    unwrap: (replaced) => Buffer.from(String(JSON.parse(replaced.toString('utf8').slice(4, -1)))),
  };
}

function parseObject(bytes: Buffer): JsonDocument | undefined {
  try {
    return parseStrictJson(bytes);
  } catch {
    return undefined; // not strict, or not an object
  }
}
