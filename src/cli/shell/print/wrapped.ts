import type { Io } from '../io.ts';

/**
 * A message as it is printed: on a terminal, long lines are wrapped between words and continue at their indentation; a
 * word that is too long (a path, an address) stays whole. Excerpts of a file with a mark below them stay as they are,
 * and so does everything in a pipe.
 */
export async function wrapped(
  text: string,
  { isTTY, columns }: Pick<Io['stderr'], 'isTTY' | 'columns'>,
): Promise<string> {
  // A character takes at most two columns. Loading the package takes longer than printing most messages.
  // A terminal of 0 columns does not say how wide it is.
  if (isTTY !== true || !columns || !text.split('\n').some((line) => line.length * 2 > columns)) return text;
  const { default: wrapAnsi } = await import('wrap-ansi');
  return text
    .split('\n')
    .map((line) => {
      if (excerpt.test(line)) return line;
      const [indentation = ''] = /^ */.exec(line) ?? [];
      const width = Math.max(1, columns - indentation.length);
      return wrapAnsi(line.slice(indentation.length), width).replaceAll(/^/gm, indentation);
    })
    .join('\n');
}

/** `  12 |     action: blok`, and the line below it. */
const excerpt = /^ *\d* \| /;
