import type { Dialect } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { lettersOf, settingsIn } from './settings.ts';

// Reduced to letters: reasoning_effort, enable_thinking, chat_template_kwargs.thinking, thinkingConfig.thinking_budget …
const spellings = new Set([
  'thinking',
  'think',
  'reasoning',
  'enablethinking',
  'thinkingbudget',
  'thinkinglevel',
  'reasoningeffort',
]);
/** What says it inside such a member: `thinking.type`, `reasoning.max_tokens`. */
const insideSpellings = new Set(['type', 'effort', 'enabled', 'maxtokens', 'budgettokens']);

const refusals = new Set(['none', 'disabled', 'off', 'false', '0']);

/** Whether a request asks to reason, in any host's words for it; undefined if it says nothing of it. */
export function asksToReason(document: JsonDocument, dialect: Dialect): boolean | undefined {
  let asked: boolean | undefined;
  for (const key of settingsIn(document, dialect)) {
    if (!spellings.has(lettersOf(document.text(key)))) continue;
    const asksHere = askedBy(document, key + 1);
    if (asksHere === true) return true;
    asked ??= asksHere;
  }
  return asked;
}

function askedBy(document: JsonDocument, entry: number): boolean | undefined {
  switch (document.kind(entry)) {
    case kinds.object:
      return askedInside(document, entry);
    case kinds.null:
      return undefined;
    case kinds.false:
      return false;
    case kinds.number:
      return document.number(entry) !== 0;
    case kinds.string:
      return document.text(entry) === '' ? undefined : !refusals.has(document.text(entry).toLowerCase());
    default:
      return true;
  }
}

/** A budget beside `type: disabled` counts: which of them a host obeys is not known. */
function askedInside(document: JsonDocument, object: number): boolean | undefined {
  let asked: boolean | undefined;
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) {
    const isObject = document.kind(key + 1) === kinds.object;
    if (isObject || !insideSpellings.has(lettersOf(document.text(key)))) continue;
    const asksHere = askedBy(document, key + 1);
    if (asksHere === true) return true;
    asked ??= asksHere;
  }
  return asked;
}
