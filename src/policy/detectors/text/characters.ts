/** The UTF-16 unit at an index; -1 outside the text, so that the result is always an integer. */
export function codeAt(text: string, at: number): number {
  return at >= 0 && at < text.length ? text.charCodeAt(at) : -1;
}

/** True for 0 to 9 only; the folded view handles digits of other scripts. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** True for A to Z and a to z. */
export function isLatinLetter(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122;
}

/** True for 0 to 9, A to Z and a to z. */
export function isAlphanumeric(code: number): boolean {
  return isDigit(code) || isLatinLetter(code);
}

/** True for letters, digits and the underscore, the characters of identifiers and keys. */
export function isWordCharacter(code: number): boolean {
  return isDigit(code) || isLatinLetter(code) || code === 95;
}

/** True for word characters and the hyphen, the characters of most providers' keys. */
export function isKeyCharacter(code: number): boolean {
  return isWordCharacter(code) || code === 45;
}

export function isHexDigit(code: number): boolean {
  const lower = code | 32;
  return isDigit(code) || (lower >= 97 && lower <= 102);
}

/** A lookup table by code of the ASCII characters in a set, made once for long searches. */
export type CharacterSet = Uint8Array;

/** The characters for which a test holds, and some others. */
export function toCharacterSet(belongs: (code: number) => boolean, others = ''): CharacterSet {
  return Uint8Array.from({ length: 128 }, (_, code) =>
    belongs(code) || others.includes(String.fromCharCode(code)) ? 1 : 0,
  );
}

export function isIn(set: CharacterSet, code: number): boolean {
  return code < 128 && set[code] === 1;
}
