import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { knownModel } from '../../limits/known-models.ts';
import type { Target } from '../../providers/route.ts';

/**
 * Whether an answer may have tokens that no text shows: most models that reason show a summary of it or nothing. A
 * request decides it for all models, otherwise what is known of the model, and a model of which nothing is known may.
 */
export function mayReason(isAsked: boolean | undefined, { provider, model }: Target): boolean {
  if (provider.options.dialect === 'sandbox') return false;
  return isAsked ?? knownModel(model)?.reasonsUnasked ?? true;
}

/** Undefined if the request says nothing of it. */
export function asksToReason(document: JsonDocument): boolean | undefined {
  const asked = [
    askedBy(document, document.member(document.root, 'thinking'), 'type'),
    askedBy(document, document.member(document.root, 'reasoning'), 'effort'),
    askedBy(document, document.member(document.root, 'reasoning_effort')),
  ];
  return asked.includes(true) || (asked.includes(false) ? false : undefined);
}

/** Whether a member of the request asks to reason; undefined if it says neither. */
function askedBy(document: JsonDocument, entry: number | undefined, name?: string): boolean | undefined {
  if (entry === undefined || document.kind(entry) === kinds.null) return undefined;
  if (name !== undefined && document.kind(entry) === kinds.object) {
    const value = document.member(entry, name);
    return value === undefined ? undefined : askedBy(document, value);
  }
  const isNone = document.kind(entry) === kinds.string && ['none', 'disabled'].includes(document.text(entry));
  return !isNone;
}
