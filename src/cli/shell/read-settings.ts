import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Io } from './io.ts';

/** Another program's settings file; without a value unless it was read. */
export type SettingsFile = { readonly file: string; readonly value?: unknown } & (
  | { readonly kind: 'missing' | 'read' }
  | { readonly kind: 'broken'; readonly reason: string }
);

/** The folder with Codex's settings. */
export function codexHome(env: Io['env']): string {
  return env.CODEX_HOME || join(env.HOME || homedir(), '.codex');
}

/** Reads each of several files in JSON once. */
export function readAllSettings(files: readonly string[]): readonly SettingsFile[] {
  return [...new Set(files)].map((file) => readSettingsFile(file, JSON.parse));
}

export function readSettingsFile(file: string, parse: (text: string) => unknown): SettingsFile {
  try {
    return { file, kind: 'read', value: parse(readFileSync(file, 'utf8')) };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException; // of the file system or a parser
    if (code === 'ENOENT' || code === 'ENOTDIR') return { file, kind: 'missing' };
    // A parser's message quotes the line that it failed at, and such files contain keys.
    const { line } = cause as { line?: unknown };
    const place = typeof line === 'number' ? `line ${line}: ` : '';
    return { file, kind: 'broken', reason: `${place}${withoutExcerpt(message)}` };
  }
}

function withoutExcerpt(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/, ?(?:\.\.\.)?".*$/s, '');
}
