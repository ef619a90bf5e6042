import type { Config } from '../../config/config.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';

/** The plant store's part of a configuration file; undefined if there is no file. Throws config.invalid and config.untrusted. */
export async function configuredPlants(
  options: CommonOptions,
  io: Io,
): Promise<Config['plants'] | undefined> {
  // Checked first, so that the schema is not loaded if there is no file.
  const { findConfig } = await import('../../config/source/find.ts');
  if ((await findConfig({ file: options.config, cwd: io.cwd, env: io.env })) === undefined) return undefined;
  return (await loadUserConfig(options, io)).config.plants;
}
