import {
  type CharacterSet,
  isAlphanumeric,
  isDigit,
  isHexDigit,
  isKeyCharacter,
  isLatinLetter,
  isWordCharacter,
  toCharacterSet,
} from '../text/characters.ts';

/** A number of characters of a set. */
export interface CharacterRun {
  readonly set: CharacterSet;
  /** The set as a lower-case expression, for the prefilter. */
  readonly regex: string;
  readonly min: number;
  readonly max: number;
  /** "=" may follow, as base64 padding. */
  readonly isPadded: boolean;
}

/** A key's parts, one after the other. */
export type KeyPart = string | CharacterRun;

/** Of each set: which characters belong to it, as an expression, and further ones. */
const characters: Readonly<Record<string, readonly [(code: number) => boolean, string, string?]>> = {
  digits: [isDigit, '[0-9]'],
  hex: [isHexDigit, '[0-9a-f]'],
  base32: [isUpper, '[a-z2-7]', '234567'],
  lower: [(code) => isDigit(code) || (isLatinLetter(code) && !isUpper(code)), '[a-z0-9]'],
  upper: [(code) => isDigit(code) || isUpper(code), '[a-z0-9]'],
  alnum: [isAlphanumeric, '[a-z0-9]'],
  word: [isWordCharacter, '[a-z0-9_]'],
  key: [isKeyCharacter, '[a-z0-9_-]'],
  base64: [isAlphanumeric, '[a-z0-9+/]', '+/'],
  padded: [isKeyCharacter, '[a-z0-9_=-]', '='],
  percent: [isAlphanumeric, '[a-z0-9%]', '%'],
  secret: [isKeyCharacter, '[a-z0-9_.~-]', '.~'],
};

/** One object per set, so that run ends can be cached by set. */
const sets: ReadonlyMap<string, Omit<CharacterRun, 'min' | 'max'>> = new Map(
  Object.entries(characters).map(([name, [belongs, regex, others]]) => [
    name,
    { set: toCharacterSet(belongs, others), regex, isPadded: name === 'base64' },
  ]),
);

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

const uuid = '<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>';

/** Expands alternatives, as in `<live|test>`. */
export function expandFormat(format: string): readonly string[] {
  const plain = format.replaceAll('<uuid>', uuid);
  const choice = /<([^:<>]*\|[^:<>]*)>/.exec(plain);
  if (choice === null) return [plain];
  const [whole, alternatives = ''] = choice;
  return alternatives.split('|').flatMap((each) => expandFormat(plain.replace(whole, () => each)));
}

/** Reads a format without alternatives: `ghp_<alnum:36-255>`. */
export function readFormat(format: string): readonly KeyPart[] {
  return (format.match(/<[^>]*>|[^<]+/g) ?? []).map((part) => {
    if (!part.startsWith('<')) return part;
    const [, name = '', least = '', most = least] = /^<([a-z0-9]+):(\d+)(?:-(\d+))?>$/.exec(part) ?? [];
    const set = sets.get(name);
    if (set === undefined || Number(most) < Number(least)) throw new Error(`not a part of a key: ${part}`);
    return { ...set, min: Number(least), max: Number(most) };
  });
}
