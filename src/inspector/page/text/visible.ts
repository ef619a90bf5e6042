/**
 * Characters that draw nothing, move the cursor, turn the direction of writing or hide text: controls (but for
 * tab and line feed), soft hyphen, zero-width and direction marks, invisible operators, tags, lone surrogates.
 * The joiners U+200C and U+200D stay, as scripts and emoji are written with them.
 */
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\u034f|\p{Surrogate}/gu;

/** The text with invisible characters made visible: `␛` for escape, `⟨U+202E⟩` for a direction override. */
export function visible(text: string): string {
  return text.replace(unseen, symbol);
}

/** For a single line: line feeds and tabs as well. */
export function visibleLine(text: string): string {
  return visible(text).replace(/\n/g, '␊').replace(/\t/g, '␉');
}

function symbol(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
