import { gatewayAddress } from '../../client/address.ts';
import { listModels } from '../../client/gateway.ts';
import { toGatewayError } from '../../errors.ts';
import { deadline, type Io } from '../shell/io.ts';
import { about, type Diagnosis } from './finding.ts';

const { ok, error } = about('GATEWAY_URL');

/** Checks the gateway that the environment names: whether it answers, and takes the key. */
export async function checkGatewayUrl(io: Io, timeoutMs: number): Promise<readonly Diagnosis[]> {
  if (!io.env.GATEWAY_URL) return [];
  try {
    const address = gatewayAddress(io.env);
    const { length } = await listModels(address, deadline(io.signal, timeoutMs / 1_000));
    return [
      ok(
        `${address.url} answers, takes the key and serves it ${length} ${length === 1 ? 'model' : 'models'}`,
      ),
    ];
  } catch (thrown) {
    io.signal.throwIfAborted();
    const [what = '', ...remedy] = toGatewayError(thrown).message.split('; ');
    return [error(what, remedy.join('; ') || 'correct GATEWAY_URL and GATEWAY_KEY, or unset both')];
  }
}
