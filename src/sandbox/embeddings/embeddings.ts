import type { Exchange } from '../exchange.ts';
import { integer, list, nonEmptyText, oneOf, optional, refuseFields, required, text } from '../fields.ts';
import { checkEmbeddingModel } from '../models.ts';
import { invalidField, type Path } from '../refusal.ts';
import type { Reply } from '../reply.ts';
import { countTokens } from '../tokens.ts';
import { buildVector } from './embedding-vector.ts';

/** One input: a text, or a text that the client has already split into tokens. */
type Input = string | readonly number[];

const defaultDimensions = 256;
const maxDimensions = 4_096;
const maxInputs = 2_048;

/** POST /v1/embeddings */
export function answerEmbeddings({ body, model }: Exchange): Reply {
  checkEmbeddingModel(model);
  refuseFields(body, ['messages', 'stream', 'max_tokens']);
  const inputs = required(body, 'input', parseInputs);
  const format = optional(body, 'encoding_format', oneOf(['float', 'base64'])) ?? 'float';
  const range = { minimum: 1, maximum: maxDimensions };
  const dimensions = optional(body, 'dimensions', integer(range)) ?? defaultDimensions;
  optional(body, 'user', text);
  const tokens = inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  const data = inputs.map((input, index) => {
    const vector = buildVector(featuresOf(input), dimensions);
    const embedding = format === 'float' ? Array.from(vector) : encode(vector);
    return { object: 'embedding', index, embedding };
  });
  return {
    kind: 'value',
    value: { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } },
  };
}

function parseInputs(value: unknown, path: Path): readonly Input[] {
  if (typeof value === 'string') return [nonEmptyText(value, path)];
  if (!Array.isArray(value)) throw invalidField(path, 'must be a string or an array', 'invalid_type');
  if (typeof value[0] === 'number') return [tokenList(value, path)];
  if (Array.isArray(value[0])) return list(tokenList, { minimum: 1, maximum: maxInputs })(value, path);
  return list(nonEmptyText, { minimum: 1, maximum: maxInputs })(value, path);
}

function tokenList(value: unknown, path: Path): readonly number[] {
  return list(integer({ minimum: 0 }), { minimum: 1 })(value, path);
}

function tokensOf(input: Input): number {
  return typeof input === 'string' ? countTokens(input) : input.length;
}

function featuresOf(input: Input): string {
  return typeof input === 'string' ? input : input.map((token) => `token${token}`).join(' ');
}

/** 32-bit floats, little-endian on every machine. */
function encode(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
