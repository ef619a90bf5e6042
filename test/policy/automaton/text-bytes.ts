import { compilePhrase, compileRegex, type Pattern } from '../../../src/policy/automaton/patterns.ts';
import type { TextBytes } from '../../../src/policy/automaton/text-bytes.ts';
import { createFold } from '../../../src/policy/fold/fold.ts';

export const fold = createFold();

/** A text as a scanner takes it, given as it stands in a JSON string. */
export function escapedText(bytes: Buffer, start = 0, end = bytes.length): TextBytes {
  return { bytes, words: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), start, end };
}

/** A text as a scanner takes it, with no more escapes than it needs. */
export function plainText(text: string): TextBytes {
  return escapedText(Buffer.from(text.replaceAll('\\', '\\\\')));
}

/** The pattern of a policy's phrase, also of one that a policy could not have. */
export function phrase(text: string): Pattern {
  const compiled = compilePhrase(text, 'folded', fold);
  return 'problem' in compiled ? { kind: 'phrase', text, folded: [fold.text(text)] } : compiled.value;
}

export function pattern(source: string, match: 'exact' | 'folded' = 'exact'): Pattern {
  const compiled = compileRegex(source, match);
  if ('problem' in compiled) throw new Error(compiled.problem);
  return compiled.value;
}
