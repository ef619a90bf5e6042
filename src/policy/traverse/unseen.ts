import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { memoize } from '../../memoize.ts';

/** Why content can't be looked into: its bytes are no text, it is kept elsewhere, or it is encrypted. */
export type UnseenKind = 'opaque' | 'reference' | 'encrypted';

/** What a member's name tells, before its value is looked at. */
type MemberName = 'encrypted' | 'reference' | 'container' | 'audio' | 'url' | 'other';

const encryptedNames = new Set(['encrypted_content', 'encrypted_index', 'encrypted_stdout']);
const referenceNames = new Set([
  'file_id',
  'file_ids',
  'vector_store_ids',
  'previous_response_id',
  'connector_id',
]);
/** All names that tell something, beside those that end in "_url". */
export const unseenNames = [...encryptedNames, ...referenceNames, 'container', 'audio'];
const topReferenceNames = new Set(['conversation', 'prompt', 'container']);

const memberName = memoize((name): MemberName => {
  if (encryptedNames.has(name)) return 'encrypted';
  if (referenceNames.has(name)) return 'reference';
  if (name === 'container' || name === 'audio') return name;
  return name.endsWith('_url') ? 'url' : 'other';
});

/** Whether a field at the top of a request refers to something that the provider keeps. */
export function isTopReference(document: JsonDocument, name: string, value: number): boolean {
  return topReferenceNames.has(name) && document.kind(value) !== kinds.null;
}

/** What a member of a block stands for by its name, where that can't be seen. */
export function unseenMember(document: JsonDocument, name: string, value: number): UnseenKind | undefined {
  const told = memberName(name);
  const kind = document.kind(value);
  if (told === 'other' || kind === kinds.null) return undefined;
  switch (told) {
    case 'encrypted':
    case 'reference':
      return told;
    case 'container':
      // One that runs code is named by a text; what is to be made new is an object.
      return kind === kinds.string ? 'reference' : undefined;
    case 'audio':
      return document.memberText(value, 'id') === undefined ? undefined : 'reference';
    case 'url': {
      const url = kind === kinds.string ? document.text(value) : document.memberText(value, 'url');
      return url !== undefined && !/^\s*data:/i.test(url) ? 'reference' : undefined;
    }
  }
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
