import { getJson } from '../../client/gateway.ts';
import { toFields, toList, toText } from '../../dialects/fields.ts';
import type { Io } from '../shell/io.ts';
import { deadline } from '../shell/output.ts';
import { gatewayTarget } from '../shell/target.ts';
import { namesInConfig } from './config-names.ts';

/** Milliseconds: the user has pressed Tab and is waiting. */
const patienceSeconds = 0.5;

/** The models that the gateway lists, or those of the configuration if no gateway answers. */
export async function modelNames(config: string | undefined, io: Io): Promise<readonly string[]> {
  try {
    const target = await gatewayTarget(config === undefined ? {} : { config }, io);
    const answer = await getJson(target, '/v1/gateway/models', deadline(io.signal, patienceSeconds));
    const ids = toList(toFields(answer).data).map((model) => toText(toFields(model).id));
    return ids.filter((id) => !id.includes('*'));
  } catch {
    return (await namesInConfig(config, io)).models;
  }
}
