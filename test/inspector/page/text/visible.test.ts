import { expect, test } from 'vitest';
import { visible, visibleLine } from '../../../../src/inspector/page/text/visible.ts';

test.each([
  ['an escape sequence', '\u001b[2J\u0007', '␛[2J␇'],
  ['a direction override', 'gpj.\u202eexe', 'gpj.⟨U+202E⟩exe'],
  ['an isolate', '\u2066a\u2069', '⟨U+2066⟩a⟨U+2069⟩'],
  ['a control of the upper half', '\u009b31m', '⟨U+009B⟩31m'],
  ['text in tags', 'a\u{e0041}', 'a⟨U+E0041⟩'],
  ['a byte order mark and a zero-width space', '\ufeffa\u200bb', '⟨U+FEFF⟩a⟨U+200B⟩b'],
  ['half of a surrogate pair', 'a\ud800b', 'a⟨U+D800⟩b'],
  ['a line separator', 'a\u2028b', 'a⟨U+2028⟩b'],
])('%s is shown by its name', (_, text, shown) => {
  expect(visible(text)).toBe(shown);
});

test('what people write stays as it is', () => {
  const text = 'Grüße 👩‍💻 東京 שלום नमस्ते\n\tmore';

  expect(visible(text)).toBe(text);
});

test('a single line has no line feeds and no tabs', () => {
  expect(visibleLine('a\n\tb')).toBe('a␊␉b');
});
