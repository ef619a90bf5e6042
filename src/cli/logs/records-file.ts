import { refuseForeignState, stateDirectory } from '../../client/state.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';

/** Where the gateway of this configuration writes its records. */
export async function recordsFile(options: CommonOptions, io: Io): Promise<string> {
  const { config } = await loadUserConfig(options, io);
  if (config.records.file !== undefined) return config.records.file;
  refuseForeignState(io.env);
  return `${stateDirectory(io.env)}/records.jsonl`;
}
