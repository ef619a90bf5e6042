import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { toFields, toText } from '../../dialects/fields.ts';
import type { Io } from '../shell/io.ts';
import { readSettings } from '../shell/read-settings.ts';

/** The folder with Codex's settings. */
export function codexHome(env: Io['env']): string {
  return env.CODEX_HOME || join(env.HOME || homedir(), '.codex');
}

/** The model that the user's settings name. */
export function codexModel(env: Io['env']): string | undefined {
  const { value } = readSettings(join(codexHome(env), 'config.toml'), parse);
  return toText(toFields(value).model) || undefined;
}
