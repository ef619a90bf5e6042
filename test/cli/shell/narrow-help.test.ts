import { expect, test } from 'vitest';
import { emptyDirectory } from '../../kit/command.ts';
import { startTerminal } from '../../kit/terminal.ts';

const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');

test.each([
  [40, []],
  [80, []],
  [40, ['send']],
  [80, ['send']],
  [40, ['plants']],
])('in %i columns no line of the help of "%s" is too long, and no word is broken', async (columns, argv) => {
  const home = emptyDirectory();
  const wide = startTerminal([...argv, '--help'], { home, columns: 200 });
  const narrow = startTerminal([...argv, '--help'], { home, columns });
  expect([(await wide.ended).exit, (await narrow.ended).exit]).toEqual([0, 0]);

  const [text = '', closing = ''] = narrow.screen().split('Examples:');
  const [, codes = ''] = closing.split('Common options');
  const wideWords = new Set(words(wide.screen()));
  for (const word of [...words(text), ...words(codes)]) expect(wideWords).toContain(word);
});
