import { findConfig, readConfigFile } from '../../config/source/find.ts';
import { type Fields, toFields, toList, toText } from '../../dialects/fields.ts';
import type { Io } from '../shell/io.ts';

export interface ConfigNames {
  readonly projects: readonly string[];
  /** Ids, not values. */
  readonly keys: readonly string[];
  readonly policies: readonly string[];
  readonly rules: readonly string[];
  readonly providers: readonly string[];
  /** Models without a wildcard. */
  readonly models: readonly string[];
}

/** Names in a configuration file, which is not validated: the user is waiting for them. */
export async function namesInConfig(file: string | undefined, { cwd, env }: Io): Promise<ConfigNames> {
  const found = await findConfig({ file, cwd, env });
  const { parse } = await import('yaml');
  const root = toFields(
    found === undefined ? {} : parse(await readConfigFile(found.path), { logLevel: 'silent' }),
  );
  const { projects, policies, providers, models } = root;
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

/** The entries of a list that each member of a section has. */
function entriesOf(section: unknown, list: string): Fields[] {
  return Object.values(toFields(section)).flatMap((member) => toList(toFields(member)[list]).map(toFields));
}
