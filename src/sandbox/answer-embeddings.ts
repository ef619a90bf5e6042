import type { EmbeddingDialect } from '../dialects/dialect.ts';
import { type Fields, toFields, wrongField } from '../dialects/fields.ts';
import { noUsage } from '../dialects/usage.ts';
import { contextOf, withoutMedia } from './answer-text.ts';
import { checkEmbeddingModel } from './models.ts';
import type { SandboxAnswer } from './send.ts';
import { countTokens } from './tokens.ts';

// Trigrams weigh less than words: they bring "plant" and "plants" together, not "plant" and "planet".
const partWeight = 0.3;
const partLength = 3;
const fnvOffset = 0x811c9dc5;
const fnvPrime = 0x01000193;

/**
 * A vector of length 1 from the words of a text and their trigrams, each added at an index and with a sign given by its
 * hash. Texts that share words are near each other; order does not matter.
 */
function buildVector(text: string, dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    add(sums, word, 1);
    const padded = `<${word}>`;
    for (let i = 0; i + partLength <= padded.length; i += 1)
      add(sums, padded.slice(i, i + partLength), partWeight);
  }
  // Texts without words, and the rare ones whose hashes cancel each other out.
  if (sums.every((sum) => sum === 0)) add(sums, text, 1);
  const length = Math.hypot(...sums);
  return Float32Array.from(sums, (sum) => sum / length);
}

function add(sums: Float64Array, feature: string, weight: number): void {
  const hashed = hash(feature);
  // The lowest bit is the sign, the others are the index.
  const place = (hashed >>> 1) % sums.length;
  sums[place] = (sums[place] ?? 0) + (hashed & 1 ? weight : -weight);
}

/** FNV-1a over UTF-16 units, with a final mix so that all bits depend on all letters. */
function hash(feature: string): number {
  let value = fnvOffset;
  for (let i = 0; i < feature.length; i += 1) value = Math.imul(value ^ feature.charCodeAt(i), fnvPrime);
  value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  return (value ^ (value >>> 16)) >>> 0;
}

/** One input: a text, or a text that the client has already split into tokens. */
type Input = string | readonly number[];

const defaultDimensions = 256;
const maxDimensions = 4_096;
const maxInputs = 2_048;

/**
 * Embeds what a request of a dialect contains, which reads it and writes the answer; media count as texts without words.
 * Throws what is wrong with the request.
 */
export function answerEmbeddings(
  { embeddingCodec: codec }: EmbeddingDialect,
  sent: Fields,
  model: string,
): SandboxAnswer {
  checkEmbeddingModel(model);
  const { input, ...body } = codec.normalize?.(sent) ?? sent;
  const inputs = input === undefined ? undefined : parseInputs(input);
  const readable = { ...body, ...(inputs && { input: inputs.map(featuresOf) }) };
  const { texts, dimensions = defaultDimensions } = codec.parseRequest(
    toFields(withoutMedia(readable)),
    new Set(),
  );
  if (dimensions < 1 || dimensions > maxDimensions) {
    const name = inputs === undefined ? 'outputDimensionality' : 'dimensions';
    throw wrongField(name, `a whole number from 1 to ${maxDimensions}`);
  }
  const vectors = texts.map((text) => Array.from(buildVector(text, dimensions)));
  const inputTokens = (inputs ?? texts).reduce((sum, each) => sum + tokensOf(each), 0);
  const answer = { vectors, usage: { ...noUsage, inputTokens } };
  const value = codec.buildAnswer(answer, contextOf(body, model), codec.echoOf({ ...body, input }));
  return { kind: 'value', value };
}

function parseInputs(value: unknown): readonly Input[] {
  const isTokens = Array.isArray(value) && typeof value[0] === 'number';
  const inputs: readonly unknown[] = Array.isArray(value) && !isTokens ? value : [value];
  if (inputs.length === 0 || inputs.length > maxInputs) throw wrongInput();
  return inputs.map((input) => {
    if (typeof input === 'string' && input !== '') return input;
    if (
      Array.isArray(input) &&
      input.length > 0 &&
      input.every((token) => Number.isInteger(token) && token >= 0)
    )
      return input;
    throw wrongInput();
  });
}

function wrongInput(): Error {
  return wrongField('input', `a text, a list of tokens, or up to ${maxInputs} of them`);
}

function tokensOf(input: Input): number {
  return typeof input === 'string' ? countTokens(input) : input.length;
}

function featuresOf(input: Input): string {
  return typeof input === 'string' ? input : input.map((token) => `token${token}`).join(' ');
}
