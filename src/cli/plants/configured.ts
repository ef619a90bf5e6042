import type { Config } from '../../config/config.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';

/** The plant store's part of a configuration file; undefined if there is no file. Throws config.invalid. */
export async function configuredPlants(
  { config: file }: CommonOptions,
  io: Io,
): Promise<Config['plants'] | undefined> {
  const search = { file, cwd: io.cwd, env: io.env };
  // Checked first, so that the schema is not loaded if there is no file.
  const { findConfig } = await import('../../config/source/find.ts');
  if ((await findConfig(search)) === undefined) return undefined;
  const { loadConfig } = await import('../../config/load.ts');
  const { config } = await loadConfig({ ...search, nowMs: Date.now() });
  return config.plants;
}
