import { type Alphabet, isWord } from './alphabet.ts';
import { isWithin, type Nfa, nodeKinds } from './nfa.ts';

/** The alphabet of one of an NFA's starts: the classes of all that it does not tell apart are one. */
export interface PatternAlphabet extends Alphabet {
  /** For each class of the whole alphabet, its class here; the two columns behind the classes included. */
  readonly columns: Uint16Array;
}

export function buildPatternAlphabets(nfa: Nfa, whole: Alphabet): readonly PatternAlphabet[] {
  const rangesOf = nfa.starts.map(() => new Map<string, readonly number[]>());
  nfa.nodes.forEach(({ kind, ranges, next }, node) => {
    const own = rangesOf[nfa.owners[node] as number] as Map<string, readonly number[]>;
    if (kind === nodeKinds.ranges) own.set(ranges.join(), ranges);
    for (const letter of next.keys()) if (letter >= 0) own.set(`${letter}`, [letter, letter]);
  });
  return rangesOf.map((ranges) => narrow(whole, [...ranges.values()]));
}

function narrow(whole: Alphabet, ranges: readonly (readonly number[])[]): PatternAlphabet {
  const columns = new Uint16Array(whole.size + 2);
  const samples: number[] = [-1];
  const known = new Map<string, number>();
  for (let each = 1; each < whole.size; each += 1) {
    const sample = whole.samples[each] as number;
    // What contexts are made of is told apart by all.
    const kind = sample === 10 || sample === 32 ? sample : Number(isWord(sample));
    const signature = `${kind} ${ranges.map((range) => Number(isWithin(sample, range))).join('')}`;
    const column = known.get(signature) ?? samples.push(sample) - 1;
    known.set(signature, column);
    columns[each] = column;
  }
  const size = samples.length;
  columns[whole.size] = size;
  columns[whole.size + 1] = size + 1;
  return { size, samples, columns, of: (codePoint) => columns[whole.of(codePoint)] as number };
}
