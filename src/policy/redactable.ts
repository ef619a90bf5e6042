import { type JsonDocument, kinds } from '../dialects/json-document.ts';
import { keyPath } from './key-path.ts';
import type { Place } from './place.ts';

// Ids and labels that other parts of a request or the provider refer to.
const fixedNames = new Set([
  'type',
  'role',
  'model',
  'id',
  'name',
  'status',
  'signature',
  'media_type',
  'data',
  'phase',
  'format',
  'detail',
  'namespace',
  'enum',
  'required',
  'encrypted_content',
]);
const definitionFields = new Set(['tools', 'functions', 'tool_choice', 'function_call', 'mcp_servers']);
const schemaFields = new Set(['response_format', 'output_config', 'text']);

/** Whether a text may be changed without breaking the request or what the provider has signed. */
export function isRedactable(place: Place): boolean {
  const { document, entry, outer } = place;
  if (place.isDecoded === true) return false;
  if (document.kind(entry) !== kinds.string || document.isKey(entry)) return false;
  if (outer !== undefined) return isRedactable(outer);
  const path = keyPath(document, entry);
  if (path.some(({ container }) => isSigned(document, container))) return false;
  const names = path.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const [top] = names;
  const last = names[names.length - 1];
  if (top === undefined || last === undefined) return false;
  if (definitionFields.has(top) || schemaFields.has(top)) return last === 'description';
  return !fixedNames.has(last) && !last.endsWith('_id');
}

/** Thinking that a provider has signed is refused by it when a letter differs. */
function isSigned(document: JsonDocument, container: number): boolean {
  if (document.kind(container) !== kinds.object) return false;
  if (document.member(container, 'signature') !== undefined) return true;
  if (document.member(container, 'encrypted_content') !== undefined) return true;
  const type = document.memberText(container, 'type');
  return type === 'thinking' || type === 'redacted_thinking';
}
