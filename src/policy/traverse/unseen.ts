import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { memoize } from '../../memoize.ts';
import { isDataUrl } from './encoded.ts';
import { isUnnamedTool } from './unnamed-tools.ts';

/** Why content can't be read: its bytes are not text, it is stored elsewhere, or it is encrypted. */
export type UnseenKind = 'opaque' | 'reference' | 'encrypted';

/** What a member's value is, judging by its name. */
type MemberName = 'encrypted' | 'reference' | 'container' | 'audio' | 'url' | 'other';

const encryptedNames = new Set(['encrypted_content', 'encrypted_index', 'encrypted_stdout']);
const referenceNames = new Set([
  'file_id',
  'file_ids',
  'vector_store_ids',
  'previous_response_id',
  'connector_id',
  'tunnel_id',
  'skill_id',
  'container_id',
]);
/** All names that mean something, beside those that end in "_url". */
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
  if (document.kind(value) === kinds.null) return false;
  // A conversation that the provider keeps, unless this request begins it.
  if (name === 'thread') {
    return (
      document.memberText(value, 'type') !== 'create' ||
      document.member(value, 'previous_message_id') !== undefined
    );
  }
  return topReferenceNames.has(name);
}

/** What a member of a block refers to, judging by its name, if that can't be read. */
export function unseenMember(document: JsonDocument, name: string, value: number): UnseenKind | undefined {
  const meaning = memberName(name);
  const kind = document.kind(value);
  if (meaning === 'other' || kind === kinds.null) return undefined;
  switch (meaning) {
    case 'encrypted':
    case 'reference':
      return meaning;
    case 'container':
      // A container that runs code is referred to by a text; one to be created is an object.
      return kind === kinds.string ? 'reference' : undefined;
    case 'audio':
      return document.memberText(value, 'id') === undefined ? undefined : 'reference';
    case 'url': {
      const url = kind === kinds.string ? document.text(value) : document.memberText(value, 'url');
      return url !== undefined && isDataUrl(url) ? undefined : 'reference';
    }
  }
}

/** What a whole block of a type refers to, if that can't be read. */
export function unseenBlock(
  document: JsonDocument,
  block: number,
  { type, hasId }: { readonly type?: string | undefined; readonly hasId?: boolean },
): UnseenKind | undefined {
  if (hasId === true && isBareReference(document, block)) return 'reference';
  switch (type) {
    case 'redacted_thinking':
    case 'advisor_redacted_result':
    case 'encrypted_code_execution_result':
      return 'encrypted';
    case 'item_reference':
      return 'reference';
    case 'image_generation_call':
      return document.memberText(block, 'result') === undefined ? undefined : 'opaque';
    case undefined:
      return undefined;
    default:
      return isUnnamedTool(document, block, type) && !leadsToServer(document, block)
        ? 'reference'
        : undefined;
  }
}

/** Whether a server's tools have been reported by its URL or id. */
function leadsToServer(document: JsonDocument, tool: number): boolean {
  return ['server_url', 'connector_id', 'tunnel_id', 'url'].some(
    (name) => document.memberText(tool, name) !== undefined,
  );
}

/** Members that only describe an item, without any of its content. */
const bareNames = new Set(['id', 'type', 'role', 'status', 'phase']);

/** Whether a block has an id and no content: then only its provider knows what it contains. */
function isBareReference(document: JsonDocument, item: number): boolean {
  if (document.member(item, 'id') === undefined) return false;
  for (let key = item + 1; key < document.next(item); key = document.next(key + 1)) {
    if (!bareNames.has(document.text(key)) && !isEmpty(document, key + 1)) return false;
  }
  return true;
}

function isEmpty(document: JsonDocument, entry: number): boolean {
  switch (document.kind(entry)) {
    case kinds.null:
      return true;
    case kinds.string:
      return document.start(entry) === document.end(entry);
    case kinds.array:
      return document.next(entry) === entry + 1;
    case kinds.object: {
      for (let key = entry + 1; key < document.next(entry); key = document.next(key + 1)) {
        if (!isEmpty(document, key + 1)) return false;
      }
      return true;
    }
    default:
      return false;
  }
}
