import { readPattern, type Term } from './schema-pattern-reader.ts';

interface Lengths {
  readonly fewest: number;
  readonly most: number;
  /** Different numbers ask for different texts, where the pattern has more than one. */
  readonly variant: number;
}

const mostCharacters = 10_000;

/**
 * A text that the regular expression matches, made from its parts; undefined where it uses lookaround,
 * back-references or word boundaries, or where no text of the wanted length is found. The expression is
 * never run: it comes from the client, and V8's engine can be kept busy for ever by a hostile one.
 */
export function buildMatching(pattern: string, { fewest, most, variant }: Lengths): string | undefined {
  const alternatives = readPattern(pattern);
  if (alternatives === undefined) return undefined;
  // Repeated parts are lengthened step by step until the text is long enough.
  let found = 0;
  for (const extra of steps(fewest + variant)) {
    const text = write(alternatives, extra);
    if (text === undefined) return undefined;
    if (text.length < fewest || text.length > most) continue;
    if (found === variant) return text;
    found += 1;
  }
  return undefined;
}

function* steps(wanted: number): Generator<number> {
  const last = Math.min(wanted, mostCharacters);
  for (let extra = 0; extra <= last; extra += 1) yield extra;
}

function write(alternatives: readonly (readonly Term[])[], extra: number): string | undefined {
  let text = '';
  for (const term of alternatives[0] ?? []) {
    const piece = term.atom.kind === 'character' ? term.atom.character : write(term.atom.alternatives, extra);
    if (piece === undefined) return undefined;
    const count = term.fewest + Math.min(extra, term.most - term.fewest);
    if (text.length + piece.length * count > mostCharacters) return undefined;
    text += piece.repeat(count);
  }
  return text;
}
