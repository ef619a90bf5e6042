import { readFileSync } from 'node:fs';

export type ReadSettings =
  | { readonly kind: 'missing' }
  | { readonly kind: 'read'; readonly value: unknown }
  | { readonly kind: 'broken'; readonly reason: string };

/** Reads another program's settings file. */
export function readSettings(file: string, parse: (text: string) => unknown): ReadSettings {
  try {
    return { kind: 'read', value: parse(readFileSync(file, 'utf8')) };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException; // of the file system or a parser
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    // A parser's message quotes the line that it failed at, and such files contain keys.
    const { line } = cause as { line?: unknown };
    const place = typeof line === 'number' ? `line ${line}: ` : '';
    return { kind: 'broken', reason: `${place}${withoutExcerpt(message)}` };
  }
}

function withoutExcerpt(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/, ?(?:\.\.\.)?".*$/s, '');
}
