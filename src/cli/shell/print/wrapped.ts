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
 * A message as it is printed: on a terminal, long lines are wrapped between words and continue at their indentation, or
 * behind their label; a word that is too long (a path, an address) stays whole. Excerpts of a file with a mark below them
 * stay as they are, and so does everything in a pipe.
 */
export async function wrapped(
  text: string,
  stream: Pick<Io['stderr'], 'isTTY' | 'columns'>,
): Promise<string> {
  // A character takes at most two columns. Loading the package takes longer than printing most messages.
  const { columns } = stream;
  if (stream.isTTY !== true || !columns || !text.split('\n').some((line) => line.length * 2 > columns))
    return text;
  return (await wrapperFor(stream))(text);
}

/** The same for lines that are written as they come. */
export async function wrapping(stream: Io['stderr']): Promise<{ write(text: string): void }> {
  if (stream.isTTY !== true) return stream;
  const wrap = await wrapperFor(stream);
  return { write: (text) => void stream.write(wrap(text)) };
}

async function wrapperFor(stream: Pick<Io['stderr'], 'columns'>): Promise<(text: string) => string> {
  const { default: wrapAnsi } = await import('wrap-ansi');
  const wrapLine = (line: string, columns: number) => {
    if (excerpt.test(line)) return line;
    const [start = '', style = '', label = ''] = /^(\u001b\[\d+m)?([a-z]+ {2,}| *)/.exec(line) ?? [];
    const width = Math.max(1, columns - label.length);
    const below = ' '.repeat(label.length);
    return style + label + wrapAnsi(line.slice(start.length), width).replaceAll('\n', `\n${below}`);
  };
  return (text) => {
    // A terminal of 0 columns does not say how wide it is.
    const { columns } = stream;
    if (!columns) return text;
    return text
      .split('\n')
      .map((line) => wrapLine(line, columns))
      .join('\n');
  };
}

/** `  12 |     action: blok`, and the line below it. */
const excerpt = /^ *\d* \| /;
