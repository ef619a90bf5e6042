import { lookAlikes } from './look-alikes.generated.ts';

/** Code points that a character may be read as; none if it is invisible. */
export type Reading = readonly number[];
export type CharacterFold = (codePoint: number) => readonly Reading[];

const space = 0x20;
const readingLimit = 8;
const mark = /^\p{M}$/u;
// U+FFFC and U+FFFD stand for an object and a broken character; a note without a head (U+1D159) is not drawn.
const invisible =
  /^[\p{Cf}\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufffc\ufffd\u{1d159}]$/u;
// The blank Braille pattern looks like a space, but Unicode does not classify it as one. U+0085 is a control character that
// few readers take for the line end it once was.
const blank = /^(?!\x85)[\p{White_Space}\u2800]$/u;
const dash = /^[\p{Pd}\u2212\u2043]$/u;
const digit = /^\p{Nd}$/u;
/** Tag characters, which are invisible and encode ASCII. */
const firstTag = 0xe0020;
const lastTag = 0xe007e;
const tagOffset = 0xe0000;

const nothing: Reading = [];
const oneSpace: Reading = [space];
/** Invisible separators are read both ways, because some readers skip them and others treat them as a space. */
const invisibleReadings: readonly Reading[] = [nothing, oneSpace];

/** The fold of single characters, by the rules of Unicode; several steps, so callers memoize it. */
export function createCharacterFold(): CharacterFold {
  // The table, decoded for the first character that may need it: a start without one is 10 ms faster.
  let alike: LookAlikes | undefined;
  return (codePoint) => {
    if (isIdeograph(codePoint)) return [[codePoint]];
    if (codePoint >= firstLookAlike) alike ??= decodeLookAlikes();
    return foldCharacter(String.fromCodePoint(codePoint), alike ?? noLookAlikes);
  };
}

type LookAlikes = ReadonlyMap<string, readonly string[]>;
const noLookAlikes: LookAlikes = new Map();
/** ASCII stands for itself. */
const firstLookAlike = 0x80;

function foldCharacter(character: string, alike: LookAlikes): readonly Reading[] {
  if (blank.test(character)) return [oneSpace];
  const codePoint = character.codePointAt(0) as number;
  if (codePoint >= firstTag && codePoint <= lastTag) {
    return [...invisibleReadings, ...foldCharacter(String.fromCodePoint(codePoint - tagOffset), alike)];
  }
  // Before the marks, because some of them are invisible (variation selectors).
  if (invisible.test(character)) return invisibleReadings;
  if (mark.test(character)) return [nothing];
  // A compatibility form may look like something else than it stands for (the lunate sigma: c).
  const texts = new Set(alike.get(character) ?? foldParts(character, alike));
  const capital = character.toUpperCase();
  // Some letters become two in upper case.
  if (capital.length > character.length) for (const text of foldParts(capital, alike)) texts.add(text);
  return Array.from(texts, (text) => Array.from(text, (each) => each.codePointAt(0) as number));
}

function foldParts(text: string, alike: LookAlikes): readonly string[] {
  let texts: readonly string[] = [''];
  for (const part of text.normalize('NFKD')) texts = joined(texts, foldPart(part, alike));
  return texts;
}

/** All combinations, as long as there are few. */
function joined(texts: readonly string[], ends: readonly string[]): readonly string[] {
  const [first = ''] = ends;
  if (texts.length * ends.length > readingLimit) return texts.map((text) => text + first);
  return texts.flatMap((text) => ends.map((end) => text + end));
}

function foldPart(part: string, alike: LookAlikes): readonly string[] {
  if (part <= '\x7f') return [part.toLowerCase()];
  if (blank.test(part)) return [' '];
  if (mark.test(part) || invisible.test(part)) return [''];
  if (dash.test(part)) return ['-'];
  const seen = alike.get(part);
  if (seen !== undefined) return seen;
  if (digit.test(part)) return [String(digitValue(part.codePointAt(0) as number))];
  let lower: readonly string[] = [''];
  // To upper case and back, because some letters (ß, ς) only then become equal to their variants.
  for (const each of part.toLowerCase().toUpperCase().toLowerCase().normalize('NFKD')) {
    if (!mark.test(each) && !invisible.test(each)) lower = joined(lower, alike.get(each) ?? [each]);
  }
  return lower;
}

/** Tens of thousands of characters that fold to themselves, look-alikes among them too. */
function isIdeograph(codePoint: number): boolean {
  return (
    (codePoint >= 0x3400 && codePoint <= 0x4dbf) ||
    (codePoint >= 0x4e00 && codePoint <= 0x9fff) ||
    (codePoint >= 0x20000 && codePoint <= 0x2a6df)
  );
}

/** Decimal digits stand in runs of ten from zero on, in every script. */
function digitValue(codePoint: number): number {
  let value = 0;
  while (value < 9 && digit.test(String.fromCodePoint(codePoint - value - 1))) value += 1;
  // Runs that touch (the mathematical digits) have compatibility forms and don't come here.
  return value;
}

function decodeLookAlikes(): LookAlikes {
  const words = lookAlikes.join(' ').split(' ');
  const table = new Map<string, readonly string[]>();
  let code = 0;
  for (let at = 0; at + 1 < words.length; at += 2) {
    code += Number.parseInt(words[at] as string, 36);
    table.set(String.fromCodePoint(code), (words[at + 1] as string).split('|'));
  }
  return table;
}
