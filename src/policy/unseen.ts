import { type JsonDocument, kinds } from '../dialects/json-document.ts';

/** Why content can't be looked into: its bytes are no text, it is kept elsewhere, or it is encrypted. */
export type UnseenKind = 'opaque' | 'reference' | 'encrypted';

const encryptedNames = new Set(['encrypted_content', 'encrypted_index', 'encrypted_stdout']);
const referenceNames = new Set([
  'file_id',
  'file_ids',
  'vector_store_ids',
  'previous_response_id',
  'connector_id',
]);
const topReferenceNames = new Set(['conversation', 'prompt', 'container']);

/** Whether a field at the top of a request refers to something that the provider keeps. */
export function isTopReference(document: JsonDocument, name: string, value: number): boolean {
  return topReferenceNames.has(name) && document.kind(value) !== kinds.null;
}

/** What a member of a block stands for by its name, where that can't be seen. */
export function unseenMember(document: JsonDocument, name: string, value: number): UnseenKind | undefined {
  const kind = document.kind(value);
  if (kind === kinds.null) return undefined;
  if (encryptedNames.has(name)) return 'encrypted';
  if (referenceNames.has(name)) return 'reference';
  // A container that runs code is named by a text; what is to be made new is an object.
  if (name === 'container' && kind === kinds.string) return 'reference';
  if (name === 'audio' && document.memberText(value, 'id') !== undefined) return 'reference';
  if (!name.endsWith('_url')) return undefined;
  const url = kind === kinds.string ? document.text(value) : document.memberText(value, 'url');
  return url !== undefined && !/^\s*data:/i.test(url) ? 'reference' : undefined;
}

/** What a whole block of a type stands for, where that can't be seen. */
export function unseenBlock(
  document: JsonDocument,
  block: number,
  type: string | undefined,
): UnseenKind | undefined {
  switch (type) {
    case 'redacted_thinking':
      return 'encrypted';
    case 'item_reference':
      return 'reference';
    case 'image_generation_call':
      return document.memberText(block, 'result') === undefined ? undefined : 'opaque';
    case undefined:
      return isBareReference(document, block) ? 'reference' : undefined;
    default:
      return undefined;
  }
}

/** An item of the input that has nothing but an id is a reference too: hosts don't ask for its type. */
function isBareReference(document: JsonDocument, block: number): boolean {
  if (document.memberText(block, 'id') === undefined) return false;
  return document.member(block, 'role') === undefined && document.member(block, 'content') === undefined;
}
