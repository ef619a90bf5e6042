/** The UTF-16 unit at a place; -1 before a text and behind it, so that it is a whole number everywhere. */
export function codeAt(text: string, at: number): number {
  return at >= 0 && at < text.length ? text.charCodeAt(at) : -1;
}

/** True for 0 to 9 only; digits of other scripts are the folded view's business. */
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

/** True for what identifiers and keys are made of: letters, digits and the underscore. */
export function isWordCharacter(code: number): boolean {
  return isDigit(code) || isLatinLetter(code) || code === 95;
}

/** True for word characters and the hyphen: what keys of most providers are made of. */
export function isKeyCharacter(code: number): boolean {
  return isWordCharacter(code) || code === 45;
}

export function isHexDigit(code: number): boolean {
  const lower = code | 32;
  return isDigit(code) || (lower >= 97 && lower <= 102);
}

/** The ASCII characters that belong to a set, by their code; made once, so that long searches only look up. */
export type CharacterSet = Uint8Array;

export function toCharacterSet(belongs: (code: number) => boolean): CharacterSet {
  return Uint8Array.from({ length: 128 }, (_, code) => (belongs(code) ? 1 : 0));
}

export function isIn(set: CharacterSet, code: number): boolean {
  return code < 128 && set[code] === 1;
}
