import { homedir } from 'node:os';
import { join } from 'node:path';
import { toFields } from '../../dialects/fields.ts';
import { geminiAuth } from '../agents/clients.ts';
import type { Io } from '../shell/io.ts';
import { readAllSettings } from '../shell/read-settings.ts';
import { about, type Diagnosis } from './finding.ts';

const { error } = about('gemini');

/** Files of Gemini CLI in which another login than a key is chosen: it then asks Google, even if another address is set. */
export function checkGemini({ env, cwd }: Pick<Io, 'env' | 'cwd'>): readonly Diagnosis[] {
  const home = env.GEMINI_CLI_HOME || env.HOME || homedir();
  const system = process.platform === 'darwin' ? '/Library/Application Support/GeminiCli' : '/etc/gemini-cli';
  const read = readAllSettings([
    env.GEMINI_CLI_SYSTEM_SETTINGS_PATH || join(system, 'settings.json'),
    join(cwd, '.gemini', 'settings.json'),
    join(home, '.gemini', 'settings.json'),
  ]);
  return read.flatMap((settings): Diagnosis[] => {
    const { file } = settings;
    const remedy = `set security.auth.selectedType to ${geminiAuth} there`;
    // Unreadable here, such as one with comments, may be valid for Gemini CLI.
    if (settings.kind === 'broken') return [error(`${file} can't be checked: ${settings.reason}`, remedy)];
    const { selectedType = geminiAuth } = toFields(toFields(toFields(settings.value).security).auth);
    return selectedType === geminiAuth ? [] : [error(`${file} chooses another login than a key`, remedy)];
  });
}
