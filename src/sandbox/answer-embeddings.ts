import { encodeEmbeddings } from '../dialects/embeddings/encodings.ts';
import { type Fields, parseOptionalCount, wrongField } from '../dialects/fields.ts';
import { buildVector } from './embedding-vector.ts';
import { checkEmbeddingModel } from './models.ts';
import type { Reply } from './send.ts';
import { countTokens } from './tokens.ts';

/** One input: a text, or a text that the client has already split into tokens. */
type Input = string | readonly number[];

const defaultDimensions = 256;
const maxDimensions = 4_096;
const maxInputs = 2_048;

export function answerEmbeddings(body: Fields, model: string): Reply {
  checkEmbeddingModel(model);
  const inputs = parseInputs(body.input);
  const dimensions = parseOptionalCount(body.dimensions, 'dimensions') ?? defaultDimensions;
  if (dimensions < 1 || dimensions > maxDimensions)
    throw wrongField('dimensions', `a whole number from 1 to ${maxDimensions}`);
  const tokens = inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  const data = inputs.map((input, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from(buildVector(featuresOf(input), dimensions)),
  }));
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  const value = { object: 'list', data, model, usage };
  return { kind: 'value', value: body.encoding_format === 'base64' ? encodeEmbeddings(value) : value };
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
