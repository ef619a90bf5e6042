import type { GatewayAddress } from '../../client/call.ts';
import { getJson } from '../../client/gateway.ts';
import { toFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';

/** What the configuration says of a model, in tokens. */
export interface ModelLimits {
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
}

/**
 * Asks the gateway about a model; empty if nothing is known, or for a name that only a pattern matches. Throws
 * gateway.unreachable, key.invalid and whatever else the gateway answers.
 */
export async function readModelLimits(
  address: GatewayAddress,
  model: string | undefined,
  signal: AbortSignal,
): Promise<ModelLimits> {
  const { data } = toFields(await getJson(address, '/v1/gateway/models', signal));
  const models = Array.isArray(data) ? data.map(toFields) : [];
  const { context_window, max_output_tokens } = models.find(({ id }) => id === model) ?? {};
  return {
    ...(typeof context_window === 'number' && { contextWindow: context_window }),
    ...(typeof max_output_tokens === 'number' && { maxOutputTokens: max_output_tokens }),
  };
}

/** What the gateway says of a model by any name; undefined if it serves none for this key. Throws whatever else it answers. */
export async function findModel(
  address: GatewayAddress,
  id: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    return toFields(await getJson(address, `/v1/models/${encodeURIComponent(id)}`, signal));
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'model.unknown') return undefined;
    throw error;
  }
}
