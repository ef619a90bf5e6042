import type { Range } from '../detector.ts';
import { WordStarts } from '../text/word-starts.ts';
import { argumentMarks } from './credential-arguments.ts';
import { secretWordHere, secretWords } from './secret-names.ts';

/** The words of a text beside which secrets stand. */
export interface SecretSigns {
  /** Words in names of secrets; none begins before the end of the one before. */
  readonly names: readonly Range[];
  /** The marks of arguments, as bits. */
  readonly marked: number;
  readonly opensPrivateKey: boolean;
}

const openings = ['private key', 'static key', 'putty-user-key', 'age-secret-key', 'ls0tls1'];
const groups = [...argumentMarks, openings, ...secretWords];
const starts = new WordStarts(groups);
const openingBit = 1 << argumentMarks.length;
const markBits = (openingBit << 1) - 1;

/** Each mark, at a place in a text of any case. */
const marksHere = [...argumentMarks, openings].map(
  (marks) =>
    new RegExp(marks.map((mark) => mark.replace(/[?.*()+\\]/g, '\\$&').replace(/#/g, '\\d')).join('|'), 'iy'),
);

/** Finds all of them in one pass, which is most of what a text without secrets takes. */
export function readSigns(text: string): SecretSigns {
  const names: Range[] = [];
  let marked = 0;
  let nextName = 0;
  starts.each(text, (at, found) => {
    for (let open = found & markBits & ~marked; open !== 0; open &= open - 1) {
      const bit = open & -open;
      if (isHere(marksHere[31 - Math.clz32(bit)] as RegExp, text, at)) marked |= bit;
    }
    if (found > markBits && at >= nextName && isHere(secretWordHere, text, at)) {
      nextName = secretWordHere.lastIndex;
      names.push({ start: at, end: nextName });
    }
  });
  return { names, marked: marked & ~openingBit, opensPrivateKey: (marked & openingBit) !== 0 };
}

function isHere(expression: RegExp, text: string, at: number): boolean {
  expression.lastIndex = at;
  return expression.test(text);
}
