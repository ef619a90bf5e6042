import { findConfig, readConfigFile } from '../../config/source/find.ts';
import { type Fields, toFields, toList, toText } from '../../dialects/fields.ts';
import type { Io } from '../shell/io.ts';
import { type ConfigNames, keepNames, keptNames } from './kept-names.ts';

/**
 * Names in the configuration that a command would use, which is not validated because the user is waiting. They are
 * cached, as searching and parsing take longer than everything else.
 */
export async function namesInConfig(file: string | undefined, io: Io): Promise<ConfigNames> {
  const kept = keptNames(file, io);
  if (kept !== undefined) return kept;
  const found = await findConfig({ file, cwd: io.cwd, env: io.env });
  if (found === undefined) return namesIn({});
  const { parse } = await import('yaml');
  const names = namesIn(parse(await readConfigFile(found.path), { logLevel: 'silent' }));
  keepNames({ file, path: found.path, names }, io);
  return names;
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

/** The entries of a list that each member of a section has. */
function entriesOf(section: unknown, list: string): Fields[] {
  return Object.values(toFields(section)).flatMap((member) => toList(toFields(member)[list]).map(toFields));
}
