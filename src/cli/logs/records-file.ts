import { stat } from 'node:fs/promises';
import { refuseForeignState, stateDirectory } from '../../client/state.ts';
import { findConfig, readConfigFile } from '../../config/source/find.ts';
import { isFields } from '../../dialects/fields.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';
import { followRunning } from '../shell/running-configuration.ts';

/** Where the running gateway writes its records, or the one of the named configuration. */
export async function recordsFile(options: CommonOptions, io: Io): Promise<string> {
  const followed = await followRunning(options, io);
  const configured =
    followed !== undefined && (await mayNameFile(followed, io))
      ? (await loadUserConfig(followed, io)).config
      : undefined;
  if (configured?.records.file !== undefined) return configured.records.file;
  refuseForeignState(io.env);
  return `${stateDirectory(io.env)}/records.jsonl`;
}

/** Whether the configuration may name another file; building all of it takes longer than searching most records. */
async function mayNameFile({ config: file }: CommonOptions, { cwd, env }: Io): Promise<boolean> {
  const found = await findConfig({ file, cwd, env });
  if (found === undefined) return false;
  const isFile = await stat(found.path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  // A pipe can be read only once, and a missing file is reported by whoever loads it.
  if (!isFile) return true;
  const text = await readConfigFile(found.path);
  const { problems, value } = (await import('../../config/source/document.ts')).parseSource(text);
  return problems.length > 0 || !isFields(value) || value.records !== undefined;
}
