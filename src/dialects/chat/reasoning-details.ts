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

/** Whether a piece goes on with the one before: texts come in pieces, of which the last is signed; encrypted data comes whole. */
export function continuesDetail(last: Fields, { type, index, text }: Fields): boolean {
  const isOther = type === 'reasoning.encrypted' || (isFilled(last.signature) && isFilled(text));
  return type === last.type && index === last.index && !isOther;
}

/** Gathers the details of one answer, whole or in pieces; `begun` is the beginning of its thought. */
export function createDetails(begun = '') {
  let pieces: Fields[] = [];
  let isSigned = false;
  let digest = createThoughtDigest();
  digest.add(begun);

  function add(piece: Fields): void {
    const last = pieces.at(-1);
    if (isFilled(piece.signature)) isSigned = true;
    if (last !== undefined && continuesDetail(last, piece))
      pieces[pieces.length - 1] = { ...last, ...known(piece) };
    else pieces.push(known(piece));
  }

  return {
    /** Whether a signed text ends where these begin: each has a signature of its own. */
    isOther(details: unknown): boolean {
      const last = pieces.at(-1);
      const [piece] = toList(details);
      if (last === undefined || !isFields(piece) || piece.type !== 'reasoning.text') return false;
      return isSigned && !continuesDetail(last, piece);
    },
    add(details: unknown): void {
      for (const piece of toList(details)) if (isFields(piece)) add(piece);
    },
    thought: (text: string) => digest.add(text),
    /** The seal of what has come since the last; undefined if nothing of it needs to come back. */
    take(): Seal | undefined {
      const details = pieces.filter(({ data, signature }) => isFilled(data) || isFilled(signature));
      const sealed: Sealed = { digest: digest.end(), details };
      pieces = [];
      isSigned = false;
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

/** The thoughts of a whole answer, each with the seal of its details. */
export function detailedThoughts(text: string, list: unknown): AnswerPart[] {
  const all = toList(list).filter(isFields);
  const details = createDetails();
  const parts: AnswerPart[] = [];
  let said = '';
  const end = () => {
    const seal = details.take();
    if (said !== '' || seal !== undefined) parts.push({ kind: 'thinking', text: said, seal });
    said = '';
  };
  const say = (words: string) => {
    said += words;
    details.thought(words);
  };
  const isDetailed = all.map((detail) => toText(detail.text)).join('') === text;
  if (!isDetailed) say(text);
  for (const detail of all) {
    if (isDetailed && details.isOther([detail])) end();
    details.add([detail]);
    if (isDetailed) say(toText(detail.text));
  }
  end();
  return parts;
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
