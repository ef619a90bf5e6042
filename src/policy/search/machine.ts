import type { Fold } from './fold.ts';
import { gateOf } from './gates.ts';
import { Nfa } from './nfa.ts';
import { foldedForms, type Needle } from './patterns.ts';
import { Scanner } from './scanner.ts';

/** All needles of a set, and what looks for them at once. */
export interface Machine {
  readonly needles: readonly Needle[];
  readonly scanner: Scanner;
  readonly fold: Fold;
  /** Detectors that have to see every text. */
  readonly always: readonly number[];
}

/** Compiles needles into the two automata, one for each view; of a detector what lets it have a look. */
export function buildMachine(
  needles: readonly Needle[],
  fold: Fold,
  limits: { readonly cellLimit?: number } = {},
): Machine {
  const exact = new Nfa();
  const folded = new Nfa();
  const always: number[] = [];
  for (const [number, needle] of needles.entries()) {
    if (needle.kind === 'phrase' && needle.match === 'exact')
      exact.addPhrase(codePoints(needle.text), number);
    else if (needle.kind === 'phrase') {
      for (const form of foldedForms(needle.text, fold)) folded.addPhrase(codePoints(form), number);
    } else if (needle.kind === 'pattern') {
      exact.addPattern(needle.exact, number);
      if (needle.folded !== undefined) folded.addPattern(needle.folded, number);
    } else {
      const gate = gateOf(needle.name, needle.detector);
      if (gate.isOpen) always.push(number);
      for (const literal of gate.literals) folded.addPhrase(codePoints(fold.text(literal).text), number);
      for (const pattern of gate.patterns) folded.addPattern(pattern, number);
    }
  }
  const scanner = new Scanner({ exact, folded, fold, needleCount: needles.length }, limits);
  return { needles, scanner, fold, always };
}

function codePoints(text: string): readonly number[] {
  return Array.from(text, (each) => each.codePointAt(0) as number);
}
