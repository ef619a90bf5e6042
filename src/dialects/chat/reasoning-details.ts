import type { AnswerPart, Thought } from '../conversation.ts';
import { type Fields, isFields, parseJson, toFields, toList, toText, withoutAbsent } from '../fields.ts';
import type { TranslationContext } from '../translation/context.ts';
import { createThoughtDigest, digestOf, type Seal, sealFor } from '../translation/seals.ts';

// OpenRouter's `reasoning_details`: what a model thought, in pieces, some of them encrypted or signed by the vendor behind
// it, which refuses a call without them.

/** What of an answer's thought has to come back: its encrypted and signed pieces. Their text is the thought's, in the clear. */
interface Sealed {
  readonly digest: string;
  readonly details: readonly Fields[];
}

/** Gathers the details of one answer, whole or in pieces. */
export function createDetails() {
  let pieces: Fields[] = [];
  let digest = createThoughtDigest();

  function add(piece: Fields): void {
    const last = pieces.at(-1);
    const isSame = last !== undefined && last.type === piece.type && last.index === piece.index;
    // Only texts come in pieces; encrypted data comes whole.
    if (isSame && piece.type === 'reasoning.text') pieces[pieces.length - 1] = { ...last, ...known(piece) };
    else pieces.push(known(piece));
  }

  return {
    add(details: unknown): void {
      for (const piece of toList(details)) if (isFields(piece)) add(piece);
    },
    thought: (text: string) => digest.add(text),
    /** The seal of what has come since the last; undefined if nothing of it needs to come back. */
    take(): Seal | undefined {
      const details = pieces.filter(({ data, signature }) => isFilled(data) || isFilled(signature));
      const sealed: Sealed = { digest: digest.end(), details };
      pieces = [];
      digest = createThoughtDigest();
      return details.length === 0 ? undefined : { of: 'thought', data: JSON.stringify(sealed) };
    },
  };
}

/** Without what is in the clear, and without what says nothing. */
function known({ text: _text, summary: _summary, ...piece }: Fields): Fields {
  return Object.fromEntries(
    Object.entries(piece).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  );
}

function isFilled(value: unknown): boolean {
  return toText(value) !== '';
}

/** A thought of a whole answer, with the seal of its details. */
export function detailedThought(text: string, list: unknown): AnswerPart[] {
  const details = createDetails();
  details.add(list);
  details.thought(text);
  const seal = details.take();
  return text === '' && seal === undefined ? [] : [{ kind: 'thinking', text, seal }];
}

/** The details as their host sent them. A signature is of one text: with another it is left out. */
export function openDetails(thoughts: readonly Thought[], context: TranslationContext): Fields[] {
  return thoughts.flatMap(({ text, seal }) => {
    const own = sealFor(seal, context);
    if (own === undefined) return [];
    const { digest, details } = toFields(parseJson(own.data));
    const isUnchanged = digest === digestOf(text);
    return toList(details).flatMap((detail) => {
      const fields = toFields(detail);
      if (fields.type !== 'reasoning.text') return [fields];
      return isUnchanged ? [withoutAbsent({ ...fields, text })] : [];
    });
  });
}
