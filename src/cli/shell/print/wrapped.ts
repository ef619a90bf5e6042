import { Help } from 'commander';
import { isCommon } from '../command.ts';
import type { Io } from '../io.ts';

const widestNarrow = 60;
const usageTitle = 'Usage: ';
const indentation = ' '.repeat(6);

/**
 * A command lists its own options; those of every command are in the program's help. On a narrow terminal descriptions
 * stand below their terms, so that no word is broken.
 */
export const narrowHelp: Partial<Help> = {
  visibleOptions(this: Help, command) {
    const all = Help.prototype.visibleOptions.call(this, command);
    return command.parent === null ? all : all.filter((option) => !isCommon(option));
  },
  minWidthToWrap: 10,
  commandUsage(this: Help, command) {
    const usage = Help.prototype.commandUsage.call(this, command);
    const width = (this.helpWidth ?? 80) - usageTitle.length;
    return this.boxWrap(usage, width).replaceAll('\n', `\n${' '.repeat(usageTitle.length)}`);
  },
  formatItem(term, termWidth, description, helper) {
    const { helpWidth = 80 } = helper;
    if (helpWidth > widestNarrow || description === '')
      return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
    const below = helper.boxWrap(description, helpWidth - indentation.length);
    return `  ${term}\n${below.replaceAll(/^/gm, indentation)}`;
  },
};

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
