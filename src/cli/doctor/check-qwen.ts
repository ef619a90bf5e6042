import { homedir } from 'node:os';
import { join } from 'node:path';
import { toFields } from '../../dialects/fields.ts';
import type { Io } from '../shell/io.ts';
import { readAllSettings } from '../shell/read-settings.ts';
import { about, type Diagnosis } from './finding.ts';

const { error } = about('qwen');

/** Files of Qwen Code that give models addresses of their own: it asks those, whatever OPENAI_BASE_URL is. */
export function checkQwen({ env, cwd }: Pick<Io, 'env' | 'cwd'>): readonly Diagnosis[] {
  const home = env.HOME || homedir();
  const system = process.platform === 'darwin' ? '/Library/Application Support/QwenCode' : '/etc/qwen-code';
  const read = readAllSettings([
    env.QWEN_CODE_SYSTEM_SETTINGS_PATH || join(system, 'settings.json'),
    join(cwd, '.qwen', 'settings.json'),
    join(home, '.qwen', 'settings.json'),
  ]);
  return read.flatMap((settings): Diagnosis[] => {
    const { file } = settings;
    const remedy = 'take modelProviders out there, or start qwen without the gateway';
    // Unreadable here, such as one with comments, may be valid for Qwen Code.
    if (settings.kind === 'broken') return [error(`${file} can't be checked: ${settings.reason}`, remedy)];
    const { modelProviders } = toFields(settings.value);
    const isEmpty = Object.keys(toFields(modelProviders)).length === 0;
    return isEmpty ? [] : [error(`${file} gives models addresses of their own (modelProviders)`, remedy)];
  });
}
