import { type JsonDocument, kinds } from '../../json/json-document.ts';

// Lists that some hosts try when the model can't serve: of names, or of objects with one.
const substituteFields = ['models', 'fallbacks', 'fallback_models', 'fallback_model'] as const;

/** Names of models in a request besides its `model`: substitutes, and those that its tools use. */
export function otherModels(document: JsonDocument): readonly string[] {
  const found: string[] = [];
  for (const field of substituteFields) {
    const entry = document.member(document.root, field);
    if (entry !== undefined) collect(document, entry, found);
  }
  const tools = document.member(document.root, 'tools');
  if (tools === undefined || document.kind(tools) !== kinds.array) return found;
  for (let tool = tools + 1; tool < document.next(tools); tool = document.next(tool)) {
    const name = document.memberText(tool, 'model');
    if (name !== undefined) found.push(name);
  }
  return found;
}

function collect(document: JsonDocument, entry: number, found: string[]): void {
  const kind = document.kind(entry);
  if (kind === kinds.string) found.push(document.text(entry));
  const name = document.memberText(entry, 'model');
  if (name !== undefined) found.push(name);
  if (kind !== kinds.array) return;
  for (let at = entry + 1; at < document.next(entry); at = document.next(at)) collect(document, at, found);
}
