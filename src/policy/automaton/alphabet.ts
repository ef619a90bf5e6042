import { partitionPoint } from '../../lib/partition-point.ts';
import { type Nfa, nodeKinds } from './nfa.ts';

/**
 * Groups code points into equivalence classes, so that an automaton has a column per class instead of one for each of a
 * million characters.
 */
export interface Alphabet {
  /** Number of classes. Class 0 contains no character: it stops the fast loop over bytes. */
  readonly size: number;
  of(codePoint: number): number;
  /** A representative code point of each class. */
  readonly samples: readonly number[];
}

const lastPoint = 0x10ffff;

export function buildAlphabet(nfa: Nfa): Alphabet {
  const bounds = findBounds(nfa);
  const classes = classify(bounds, nfa);
  const samples: number[] = [-1];
  classes.forEach((each, interval) => {
    samples[each] ??= bounds[interval] as number;
  });
  const memory = new Uint16Array(0x10000);
  const of = (codePoint: number): number => {
    if (codePoint > 0xffff) return classes[intervalOf(bounds, codePoint)] as number;
    const known = memory[codePoint] as number;
    if (known !== 0) return known;
    const found = classes[intervalOf(bounds, codePoint)] as number;
    memory[codePoint] = found;
    return found;
  };
  return { size: samples.length, of, samples };
}

/** First code points of the intervals within which nothing changes. */
function findBounds(nfa: Nfa): Int32Array {
  const bounds = new Set<number>([0, 10, 11, 32, 33]);
  // Word characters, as \b defines them in RE2 and here.
  for (const [first, last] of wordRanges) bounds.add(first).add(last + 1);
  for (const node of nfa.nodes) {
    for (let at = 0; at < node.ranges.length; at += 2) {
      bounds.add(node.ranges[at] as number).add((node.ranges[at + 1] as number) + 1);
    }
    for (const letter of node.next.keys()) if (letter >= 0) bounds.add(letter).add(letter + 1);
  }
  bounds.delete(lastPoint + 1);
  return Int32Array.from(bounds).sort();
}

/** A class per interval; two intervals share one where the same ranges hold them. */
function classify(bounds: Int32Array, nfa: Nfa): Uint16Array {
  const signatures: string[] = new Array(bounds.length).fill('');
  const mark = (first: number, last: number, sign: string) => {
    for (let at = intervalOf(bounds, first); at < bounds.length && (bounds[at] as number) <= last; at += 1) {
      signatures[at] += sign;
    }
  };
  let count = 0;
  const sign = () => `${(count++).toString(36)},`;
  // Line breaks and spaces are classes of their own: the rules for lines and runs of space ask for them.
  mark(10, 10, sign());
  mark(32, 32, sign());
  const word = sign();
  for (const [first, last] of wordRanges) mark(first, last, word);
  const seen = new Set<string>();
  const once = (key: string, ranges: readonly number[]) => {
    if (seen.has(key)) return;
    seen.add(key);
    const own = sign();
    for (let at = 0; at < ranges.length; at += 2) mark(ranges[at] as number, ranges[at + 1] as number, own);
  };
  for (const node of nfa.nodes) {
    if (node.kind === nodeKinds.ranges) once(node.ranges.join(), node.ranges);
    for (const letter of node.next.keys()) if (letter >= 0) once(`${letter},${letter}`, [letter, letter]);
  }
  const classes = new Map<string, number>();
  return Uint16Array.from(signatures, (signature) => {
    const known = classes.get(signature) ?? classes.size + 1;
    classes.set(signature, known);
    return known;
  });
}

const wordRanges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
] as const;

export function isWordCodePoint(codePoint: number): boolean {
  return wordRanges.some(([first, last]) => codePoint >= first && codePoint <= last);
}

function intervalOf(bounds: Int32Array, codePoint: number): number {
  return partitionPoint(bounds.length, (at) => (bounds[at] as number) <= codePoint) - 1;
}
