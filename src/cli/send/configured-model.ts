import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';

/**
 * The `default_model` of gateway.yaml, which takes too long to read for every prompt: the running gateway puts it in
 * its state file.
 */
export async function configuredModel(options: CommonOptions, io: Io): Promise<string | undefined> {
  return (await loadUserConfig(options, io)).config.defaultModel;
}
