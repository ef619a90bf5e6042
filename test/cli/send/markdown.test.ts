import { Writable } from 'node:stream';
import xterm from '@xterm/headless';
import { describe, expect, test } from 'vitest';
import { markdownPrinter } from '../../../src/cli/send/markdown.ts';
import { scale } from '../../kit/scale.ts';

const text = `# Title

Some **bold** and *it* and \`code\` with a [link](http://x.example) &amp; a long line that wraps.

- item **one**
- item two
  1. nested

> quoted

\`\`\`js
const a = 1;
\tb();
\`\`\`

| name | price |
|---|--:|
| lily | **2** |
| 東京 | 10 |

---
- [x] done
- [ ] open
`;

const shown40 = `Title

Some bold and it and code with a link
(http://x.example) & a long line that
wraps.

• item one
• item two
  1. nested

| quoted

  const a = 1;
      b();

name  price
────  ─────
lily      2
東京     10

${'─'.repeat(39)}

• [x] done
• [ ] open`;

/** What a person sees after the pieces came, each in a frame of its own where `frames` says so. */
async function see(
  pieces: readonly string[],
  { columns = 40, rows = 10, frames = false, isColoured = false } = {},
) {
  const terminal = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 10_000,
    allowProposedApi: true,
    convertEol: true,
  });
  let raw = '';
  const stdout = Object.assign(
    new Writable({
      write: (chunk, _encoding, done) => {
        raw += String(chunk);
        terminal.write(String(chunk), done);
      },
    }),
    { isTTY: true, columns, rows },
  );
  const printer = markdownPrinter({ stdout, env: {} }, isColoured);
  for (const piece of pieces) {
    printer.print(piece);
    if (frames) await new Promise((resolve) => setTimeout(resolve, 32));
  }
  await printer.end();
  const { active } = terminal.buffer;
  const lines = Array.from(
    { length: active.length },
    (_, y) => active.getLine(y)?.translateToString(true) ?? '',
  );
  return { raw, screen: lines.join('\n').trimEnd() };
}

describe('Markdown on a terminal', () => {
  test('is laid out for its width', async () => {
    expect((await see([text])).screen).toBe(shown40);
  });

  test('looks the same when it comes a few characters at a time', {
    timeout: 60_000,
  }, async () => {
    const pieces = text.match(scale(/[\s\S]{1,23}/g, /[\s\S]{1,7}/g)) ?? [];

    expect((await see(pieces, { frames: true })).screen).toBe(shown40);
  });

  test('writes a block when it is finished, and nothing twice', async () => {
    const { raw } = await see(['one ', 'two\n\n', 'three ', 'four'], { frames: true });

    expect(raw).toBe('one two\n\nthree four\n');
  });

  test('a block higher than the screen stays whole', async () => {
    const items = Array.from({ length: 15 }, (_, i) => `- item ${i}\n`);

    const { screen } = await see(items, { rows: 8, frames: true });

    expect(screen.split('\n')).toEqual(items.map((_, i) => `• item ${i}`));
  });

  test.each([20, 200])('no line is wider than %i columns', async (columns) => {
    const wide = `${text}\n${'x'.repeat(500)}\n\n| ${'a | '.repeat(9)}\n|${'---|'.repeat(9)}\n| ${'東京都 | '.repeat(9)}\n`;

    const { raw } = await see([wide], { columns });

    const widths = raw
      .split('\n')
      .map((line) => [...line].reduce((sum, c) => sum + (c > '\u2fff' ? 2 : 1), 0));
    expect(Math.max(...widths)).toBeLessThan(columns);
  });

  test('has looks where there are colours', async () => {
    const { raw } = await see(['**b** *i* `c`\n'], { isColoured: true });

    expect(raw).toContain('\u001b[1mb\u001b[22m');
    expect(raw).toContain('\u001b[3mi\u001b[23m');
    expect(raw).toContain('\u001b[36mc\u001b[39m');
  });

  test("a model's escapes do nothing, not even as entities", async () => {
    const { raw } = await see([
      'a \u001b[2J \u009b31m `\u001b]0;x\u0007` &#27;[31m &#x9b;1m [x](http://a&#27;[1m) ![&#7;](b&#27;c)\n\n- &#27;[2J\n\n> &#27;c\n',
    ]);

    expect(raw).not.toMatch(/\u001b|\u009b|\u0007/);
    expect(raw).toContain('␛[31m');
  });

  test.each([
    ['emphasis without end', '_a_'.repeat(5_000)],
    ['quotes in quotes', `${'> '.repeat(2_000)}x`],
    ['lists in lists', `${'- '.repeat(2_000)}x`],
    ['one very long word', 'x'.repeat(1_000_000)],
    ['very long code', `\`\`\`\n${'line\n'.repeat(20_000)}\`\`\``],
  ])('%s end in bounded time', { timeout: 60_000 }, async (_name, hostile) => {
    const { raw } = await see([hostile]);

    expect(raw.length).toBeGreaterThan(hostile.length / 2);
  });
});
