// The grammar of header lines (RFC 9110, section 5), for requests and answers alike. Texts have a character for
// each byte.

/** What a name may consist of. */
export const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** What no value may hold: all that is below a blank but the tab, and DEL. With a line end one header would be two. */
export const controlCharacter = /[\0-\x08\x0a-\x1f\x7f]/;

/** The same for values that are sent, which may also be texts that are no bytes. */
export const unfitInValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Where the line ends that goes on at `start`; the end of the text where there is no further one. */
export function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\r\n', start);
  return end < 0 ? text.length : end;
}

/**
 * The part of a text without the blanks and tabs around it. Not trim(): for that a no-break space is a blank too,
 * and "\xa05" would be a length to us and to nobody else.
 */
export function withoutBlanks(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
