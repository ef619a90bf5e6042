import type { Inspection, LoadedConfig } from '../../config/load.ts';
import type { Io } from './io.ts';

// The schema and the YAML parser are loaded when a command runs, so that completing its options doesn't wait for them.

interface Named {
  /** From `-c`; without it the configuration is searched for. */
  readonly config?: string | undefined;
}

/** The configuration that a command uses; throws config.invalid. */
export async function loadUserConfig({ config: file }: Named, { cwd, env }: Io): Promise<LoadedConfig> {
  const { loadConfig } = await import('../../config/load.ts');
  return loadConfig({ file, cwd, env, nowMs: Date.now() });
}

/** The same, with all its problems instead of an error. */
export async function inspectUserConfig({ config: file }: Named, { cwd, env }: Io): Promise<Inspection> {
  const { inspectConfig } = await import('../../config/load.ts');
  return inspectConfig({ file, cwd, env, nowMs: Date.now() });
}
