import { memberAt } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';

const thinkingPaths = [
  'generationConfig.thinkingConfig.thinkingBudget',
  'generation_config.thinking_config.thinking_budget',
  'generationConfig.thinkingConfig.thinkingLevel',
  'generation_config.thinking_config.thinking_level',
];

/** Undefined if the request says nothing of it. */
export function asksToReason(document: JsonDocument): boolean | undefined {
  const asked = [
    askedBy(document, document.member(document.root, 'thinking'), 'type'),
    askedBy(document, document.member(document.root, 'reasoning'), 'effort'),
    askedBy(document, document.member(document.root, 'reasoning_effort')),
    ...thinkingPaths.map((path) => askedBy(document, memberAt(document, path))),
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
  if (document.kind(entry) === kinds.number) return document.number(entry) !== 0;
  const isNone = document.kind(entry) === kinds.string && ['none', 'disabled'].includes(document.text(entry));
  return !isNone;
}
