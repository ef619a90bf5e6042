import type { GatewayAddress } from '../../client/call.ts';
import { getJson } from '../../client/gateway.ts';
import { toFields } from '../../dialects/fields.ts';

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
