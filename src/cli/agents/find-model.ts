import type { GatewayAddress } from '../../client/call.ts';
import { getJson } from '../../client/gateway.ts';
import { toFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';

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
