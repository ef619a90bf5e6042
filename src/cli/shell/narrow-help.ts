import { Help } from 'commander';
import { isCommon } from './command.ts';

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
