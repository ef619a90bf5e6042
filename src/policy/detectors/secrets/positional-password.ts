import type { Finding } from '../detector.ts';
import { isSecretValue } from './secret-value.ts';

export const positionalPrefilter = 'insert (?:ignore )?into ';

/** Every repetition is bounded. */
const statement =
  /insert (?:ignore )?into [\w."`[\]]{1,64}\s?\(([^()]{1,400})\)\s{0,8}values\s{0,8}\(([^\n]{1,800})/gi;
const passwordColumn = /pass(?:word|wd|phrase)?$|secret$|token$|api_?key$/i;
const value =
  /\s{0,8}(?:N?'((?:[^'\\]|''|\\.){0,256})'|[^,'()]{1,64}(?:\([^()]{0,64}\))?)\s{0,8}(?:,|(\)))/gy;

/** The values of an SQL statement in the position of a password column. */
export function findPositionalPasswords(text: string): readonly Finding[] {
  if (!/insert /i.test(text)) return [];
  return [...text.matchAll(statement)].flatMap(({ index, 0: whole, 1: columns = '', 2: rest = '' }) => {
    const names = columns.split(',').map((name) => name.trim().replace(/^["'`[]|["'`\]]$/g, ''));
    const from = index + whole.length - rest.length;
    return readRow(rest).flatMap(({ at, text: given }, place) =>
      passwordColumn.test(names[place] ?? '') && isSecretValue(given, 'password', true)
        ? [
            {
              start: from + at,
              end: from + at + given.length,
              confidence: 'possible',
              why: 'value of a named column',
            } as const,
          ]
        : [],
    );
  });
}

function readRow(rest: string): { readonly at: number; readonly text: string }[] {
  const row: { at: number; text: string }[] = [];
  for (const match of rest.matchAll(value)) {
    const given = match[1] ?? '';
    row.push({ at: match.index + match[0].indexOf(given), text: given });
    if (match[2] !== undefined) break;
  }
  return row;
}
