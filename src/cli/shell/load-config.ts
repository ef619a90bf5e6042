import type { Config } from '../../config/config.ts';
import type { Inspection, LoadedConfig, LoadOptions } from '../../config/load.ts';
import type { Io } from './io.ts';

// The schema and the YAML parser are loaded when a command runs, so that completing its options doesn't wait for them.

interface Named extends Pick<LoadOptions, 'found'> {
  /** From `-c`; without it the configuration is searched for. */
  readonly config?: string | undefined;
  /** Whether a person may be asked to allow what a file that was found wants; no by default. */
  readonly input?: boolean;
}

/** The configuration that a command uses; throws config.invalid and config.untrusted. */
export async function loadUserConfig(
  options: Named,
  io: Io,
  more: Partial<LoadOptions> = {},
): Promise<LoadedConfig> {
  const { loadConfig } = await import('../../config/load.ts');
  return loadConfig({ ...(await loadOptions(options, io)), ...more });
}

/** The same, with all its problems instead of an error. */
export async function inspectUserConfig(
  options: Named,
  io: Io,
  more: Partial<LoadOptions> = {},
): Promise<Inspection> {
  const { inspectConfig } = await import('../../config/load.ts');
  return inspectConfig({ ...(await loadOptions(options, io)), ...more });
}

/** The same, where only a valid one will do. Throws as `loadUserConfig` does. */
export async function inspectValidConfig(
  options: Named,
  io: Io,
  more: Partial<LoadOptions> = {},
): Promise<Inspection & { readonly config: Config }> {
  const inspection = await inspectUserConfig(options, io, more);
  const { config } = inspection;
  if (config !== undefined) return { ...inspection, config };
  const { unusable } = await import('../../config/load.ts');
  throw unusable(inspection);
}

async function loadOptions({ config: file, found, input = false }: Named, io: Io): Promise<LoadOptions> {
  const { askedConsent } = await import('./consent.ts');
  const consent = askedConsent({ input }, io);
  return { file, found, cwd: io.cwd, env: io.env, nowMs: Date.now(), consent };
}
