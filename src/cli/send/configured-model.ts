import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';

/**
 * The `default_model` of gateway.yaml, which takes too long to read for every prompt: the running gateway puts it in
 * its state file.
 */
export async function configuredModel(
  { config: file }: CommonOptions,
  { cwd, env }: Pick<Io, 'cwd' | 'env'>,
): Promise<string | undefined> {
  const { loadConfig } = await import('../../config/load.ts');
  const { config } = await loadConfig({ file, cwd, env, nowMs: Date.now() });
  return config.defaultModel;
}
