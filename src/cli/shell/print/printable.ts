import type { Io } from '../io.ts';

// C0 except tab and line feed, DEL, C1, and direction controls: all that could move the cursor, rename the window,
// write to the clipboard, or make a line look like another.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Makes untrusted text safe for a terminal: control characters become visible symbols. A carriage return is removed:
 * alone, it would let a line overwrite itself.
 */
export function printable(text: string, env: Io['env']): string {
  const shown = text.replaceAll('\r', '').replace(unsafe, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });
  // One byte of a UTF-8 character could be a control character in another encoding.
  return hasOtherEncoding(env) ? shown.replace(/[^\u0000-\u007f]/gu, '?') : shown;
}

/** Whether the locale names an encoding other than UTF-8. Without a locale it is UTF-8, as in containers. */
export function hasOtherEncoding({ LC_ALL, LC_CTYPE, LANG }: Io['env']): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return /\.(?!utf-?8)/i.test(locale);
}
