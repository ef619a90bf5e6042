import { parseJson, toCount, toFields, toList, toText } from '../dialects/fields.ts';
import { GatewayError } from '../errors.ts';
import { call, type GatewayAddress, text } from './call.ts';

export interface Embeddings {
  readonly model: string;
  /** In the order of the inputs. */
  readonly vectors: readonly (readonly number[])[];
  readonly inputTokens: number;
}

interface EmbeddingsRequest {
  readonly model: string;
  readonly inputs: readonly string[];
  readonly dimensions?: number | undefined;
  readonly signal: AbortSignal;
  /** Called with how many inputs are done. */
  readonly onProgress?: (done: number) => void;
}

/** Hosts accept different numbers of inputs per request; all of them accept this many. */
const batchSize = 128;

/** Embeds texts, in as many requests as it takes. Throws the error of the gateway or the provider. */
export async function embed(address: GatewayAddress, request: EmbeddingsRequest): Promise<Embeddings> {
  const vectors: (readonly number[])[] = [];
  let { model } = request;
  let inputTokens = 0;
  for (let i = 0; i < request.inputs.length; i += batchSize) {
    const batch = await embedBatch(address, { ...request, inputs: request.inputs.slice(i, i + batchSize) });
    vectors.push(...batch.vectors);
    request.onProgress?.(vectors.length);
    inputTokens += batch.inputTokens;
    model = batch.model;
  }
  return { model, vectors, inputTokens };
}

async function embedBatch(
  address: GatewayAddress,
  { model, inputs, dimensions, signal }: EmbeddingsRequest,
): Promise<Embeddings> {
  const body = {
    model,
    input: inputs,
    encoding_format: 'float',
    ...(dimensions === undefined ? {} : { dimensions }),
  };
  const response = await call(address, { method: 'POST', path: '/v1/embeddings', body, signal });
  const answer = toFields(parseJson(await text(response)));
  signal.throwIfAborted();
  const vectors = new Map(toList(answer.data).map((entry, i) => vectorOf(toFields(entry), i)));
  return {
    model: toText(answer.model) || model,
    vectors: inputs.map((_input, i) => vectors.get(i) ?? broken('lacks a vector')),
    inputTokens: toCount(toFields(answer.usage).prompt_tokens),
  };
}

function vectorOf(
  { index, embedding }: Readonly<Record<string, unknown>>,
  i: number,
): readonly [number, number[]] {
  const numbers = toList(embedding).map((value) =>
    typeof value === 'number' ? value : broken('has no numbers'),
  );
  if (numbers.length === 0) broken('has an empty vector');
  return [typeof index === 'number' ? index : i, numbers];
}

function broken(how: string): never {
  throw new GatewayError('provider.broken_response', `the answer ${how}`);
}
