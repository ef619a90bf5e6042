import type { Fold } from './fold.ts';
import { foldedForms, type Needle } from './needles.ts';
import { Nfa } from './nfa.ts';
import { Scanner } from './scanner.ts';

/** Needles that look at every text, and those that wait for digits. */
export interface Machine {
  readonly needles: readonly Needle[];
  readonly scanner: Scanner;
  readonly fold: Fold;
  /** Detectors that have to see every text. */
  readonly always: readonly number[];
  readonly digits: readonly DigitNeedle[];
}

/** A detector worth running where so many digits stand within so many characters. */
export interface DigitNeedle {
  readonly needle: number;
  readonly atLeast: number;
  readonly within: number;
}

/** Compiles all needles of a set into the two automata that look for them at once. */
export function buildMachine(needles: readonly Needle[], fold: Fold): Machine {
  const exact = new Nfa();
  const folded = new Nfa();
  const always: number[] = [];
  const digits: DigitNeedle[] = [];
  for (const [number, needle] of needles.entries()) {
    if (needle.kind === 'phrase' && needle.match === 'exact')
      exact.addPhrase(codePoints(needle.text), number);
    else if (needle.kind === 'phrase') {
      for (const form of foldedForms(needle.text, fold)) folded.addPhrase(codePoints(form), number);
    } else if (needle.kind === 'pattern') {
      exact.addPattern(needle.exact, number);
      if (needle.folded !== undefined) folded.addPattern(needle.folded, number);
    } else {
      const { prefilter, reach } = needle.detector;
      if (prefilter.kind === 'always') always.push(number);
      else if (prefilter.kind === 'digits') {
        digits.push({ needle: number, atLeast: prefilter.atLeast, within: reach });
      } else {
        // The folded view shows a literal in any case, and whatever else the detector's own view may undo.
        for (const literal of prefilter.literals)
          folded.addPhrase(codePoints(fold.text(literal).text), number);
      }
    }
  }
  const digitNeedle = needles.length;
  if (digits.length > 0) {
    for (let digit = 0x30; digit <= 0x39; digit += 1) folded.addPhrase([digit], digitNeedle);
  }
  const scanner = new Scanner({ exact, folded, fold, needleCount: needles.length + 1, digitNeedle });
  return { needles, scanner, fold, always, digits };
}

function codePoints(text: string): readonly number[] {
  return Array.from(text, (each) => each.codePointAt(0) as number);
}
