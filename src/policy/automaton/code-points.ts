import { shortEscapes } from '../../json/short-escapes.ts';

/** Longest a character can be in the bytes of a JSON string: two escapes of six bytes. */
const maxCharacterBytes = 12;

const backslash = 0x5c;

/** One character of a strictly read text: its code point and how many bytes it takes. */
export interface Character {
  codePoint: number;
  length: number;
}

/**
 * Reads the character at a place into `into`. The bytes must be valid UTF-8 with valid JSON escapes. A surrogate
 * escape without its partner stands for itself.
 */
export function readCharacter(bytes: Uint8Array, at: number, into: Character): void {
  const byte = bytes[at] as number;
  if (byte === backslash) return readEscape(bytes, at, into);
  if (byte < 0x80) return set(into, byte, 1);
  const second = (bytes[at + 1] as number) & 0x3f;
  if (byte < 0xe0) return set(into, ((byte & 0x1f) << 6) | second, 2);
  const third = (bytes[at + 2] as number) & 0x3f;
  if (byte < 0xf0) return set(into, ((byte & 0x0f) << 12) | (second << 6) | third, 3);
  const fourth = (bytes[at + 3] as number) & 0x3f;
  return set(into, ((byte & 0x07) << 18) | (second << 12) | (third << 6) | fourth, 4);
}

function readEscape(bytes: Uint8Array, at: number, into: Character): void {
  const letter = bytes[at + 1] as number;
  if (letter !== 0x75) return set(into, shortEscapes[letter] as number, 2);
  const high = readHex(bytes, at + 2);
  if (high >= 0xd800 && high < 0xdc00 && bytes[at + 6] === backslash && bytes[at + 7] === 0x75) {
    const low = readHex(bytes, at + 8);
    if (low >= 0xdc00 && low < 0xe000) {
      return set(into, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), maxCharacterBytes);
    }
  }
  return set(into, high, 6);
}

function readHex(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let i = 0; i < 4; i += 1) {
    const byte = bytes[at + i] as number;
    value = value * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57);
  }
  return value;
}

function set(into: Character, codePoint: number, length: number): void {
  into.codePoint = codePoint;
  into.length = length;
}

/** A text as it stands in a JSON string: UTF-8, in which every backslash begins an escape. */
export interface TextBytes {
  readonly bytes: Uint8Array;
  /** The same bytes, to be read by the word. */
  readonly words: DataView;
  readonly start: number;
  readonly end: number;
}
