import stringWidth from 'fast-string-width';
import { expect, test } from 'vitest';
import { command } from '../../kit/command.ts';

const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');

test.each([[], ['send'], ['plants']])(
  'no line of the help of "%s" is longer than the terminal',
  async (...argv) => {
    const help = async (columns: number) => {
      const { exit, stdout } = await command([...argv, '--help'], { isTerminal: true, columns });
      expect(exit).toBe(0);
      // Examples are lines to copy.
      const [text = '', closing = ''] = stdout.split('Examples:');
      return text + (closing.split('Common options')[1] ?? '');
    };
    const wide = new Set(words(await help(200)));

    for (const columns of [40, 80]) {
      const narrow = await help(columns);
      expect(narrow.split('\n').filter((line) => stringWidth(line) > columns)).toEqual([]);
      for (const word of words(narrow)) expect(wide).toContain(word);
    }
  },
);
