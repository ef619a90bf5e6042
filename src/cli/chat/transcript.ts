import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GatewayError } from '../../errors.ts';
import { describeParts } from '../history/thread.ts';
import type { Io } from '../shell/io.ts';
import type { ChatSession } from './chat-session.ts';

/** Whether /save got a file in place of a name: a path, or a name that ends in .md or .txt. */
export function isTranscriptFile(name: string): boolean {
  return /\/|\\|\.(?:md|txt)$/i.test(name);
}

/** Writes a conversation as Markdown to a new file that only its owner can read; returns its path. Throws usage.invalid. */
export async function writeTranscript(
  name: string,
  { model, system, turns }: Pick<ChatSession, 'model' | 'system' | 'turns'>,
  { cwd }: Pick<Io, 'cwd'>,
): Promise<string> {
  if (turns.length === 0) throw new GatewayError('usage.invalid', 'there is nothing to write yet');
  const sections = [
    ...(system === undefined ? [] : [`## system\n\n${system}`]),
    ...turns.map(({ role, parts }) => `## ${role}\n\n${describeParts(parts)}`),
  ];
  const path = resolve(cwd, name);
  try {
    await writeFile(path, `# ${model}\n\n${sections.join('\n\n')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    const problem = code === 'EEXIST' ? 'exists, and is not overwritten' : `can't be written (${code})`;
    throw new GatewayError('usage.invalid', `${path} ${problem}: choose another name`, { cause });
  }
  return path;
}
