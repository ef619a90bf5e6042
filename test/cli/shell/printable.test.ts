import { describe, expect, test } from 'vitest';
import { printable } from '../../../src/cli/shell/print/print.ts';

describe("somebody else's words on a terminal", () => {
  test('no character is left that a terminal obeys or that turns the direction of text', () => {
    const all = Array.from({ length: 0x2070 }, (_, code) => String.fromCharCode(code)).join('');

    const shown = printable(all, {});

    expect(shown).not.toMatch(/[^\P{Cc}\t\n]/u);
    expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });

  test.each([
    ['colours', '\x1b[31mred', '␛[31mred'],
    ['a window title', '\x1b]0;owned\x07', '␛]0;owned␇'],
    ['C1 in one character', '\x9b31m', '\ufffd31m'],
    ['a line that writes over itself', 'rm -rf\rls', 'rm -rfls'],
    ['line ends of Windows', 'a\r\nb', 'a\nb'],
    ['text in every script, and emoji', '東京 👩‍👩‍👧 é\u200f עברית', '東京 👩‍👩‍👧 é\u200f עברית'],
  ])('%s', (_name, text, expected) => {
    expect(printable(text, { LANG: 'en_GB.UTF-8' })).toBe(expected);
  });

  test('a terminal with another encoding gets ASCII', () => {
    expect(printable('Grüße 👋', { LANG: 'de_DE.ISO-8859-1' })).toBe('Gr??e ?');
    expect(printable('Grüße', { LANG: 'C' })).toBe('Grüße');
    expect(printable('Grüße', { LANG: 'x.ISO-8859-1', LC_ALL: 'C.utf8' })).toBe('Grüße');
  });
});
