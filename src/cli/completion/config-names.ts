import { getJson } from '../../client/gateway.ts';
import { findConfig, readConfigFile } from '../../config/source/find.ts';
import { type Fields, toFields, toList, toText } from '../../dialects/fields.ts';
import { deadline, type Io } from '../shell/io.ts';
import { gatewayTarget } from '../shell/running-configuration.ts';

/** Seconds: the user has pressed Tab and is waiting. */
const timeoutSeconds = 0.5;

interface ConfigNames {
  readonly projects: readonly string[];
  /** Ids, not values. */
  readonly keys: readonly string[];
  readonly policies: readonly string[];
  readonly rules: readonly string[];
  readonly providers: readonly string[];
  /** Models without a wildcard. */
  readonly models: readonly string[];
}

/** Names in the configuration that a command would use, which is not validated because the user is waiting. */
export async function namesInConfig(file: string | undefined, io: Io): Promise<ConfigNames> {
  const found = await findConfig({ file, cwd: io.cwd, env: io.env });
  if (found === undefined) return namesIn({});
  const { parse } = await import('yaml');
  return namesIn(parse(await readConfigFile(found.path), { logLevel: 'silent' }));
}

/** The models that the gateway lists, or those of the configuration if no gateway answers. */
export async function modelNames(config: string | undefined, io: Io): Promise<readonly string[]> {
  try {
    const target = await gatewayTarget({ ...(config !== undefined && { config }), quiet: true }, io);
    const answer = await getJson(target, '/v1/gateway/models', deadline(io.signal, timeoutSeconds));
    const ids = toList(toFields(answer).data).map((model) => toText(toFields(model).id));
    return ids.filter((id) => !id.includes('*'));
  } catch {
    return (await namesInConfig(config, io)).models;
  }
}

function namesIn(root: unknown): ConfigNames {
  const { projects, policies, providers, models } = toFields(root);
  return {
    projects: Object.keys(toFields(projects)),
    keys: entriesOf(projects, 'keys').map(({ id }) => toText(id)),
    policies: Object.keys(toFields(policies)),
    rules: entriesOf(policies, 'rules').map(({ id }) => toText(id)),
    providers: Object.keys(toFields(providers)),
    models: toList(models)
      .map((model) => toText(toFields(model).match))
      .filter((name) => !name.includes('*')),
  };
}

/** The entries of the list of this name in every member of a section. */
function entriesOf(section: unknown, list: string): Fields[] {
  return Object.values(toFields(section)).flatMap((member) => toList(toFields(member)[list]).map(toFields));
}
