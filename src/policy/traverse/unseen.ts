import { bytesSlot, openThought } from '../../dialects/translation/seals.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { memoize } from '../../lib/memoize.ts';
import { holdsBinary, isDataUrl, isEncryptedType } from './encoded.ts';
import type { Place } from './place.ts';

/** Why content can't be read: its bytes are not text, it is stored elsewhere, or it is encrypted. */
export type UnseenKind = 'opaque' | 'reference' | 'encrypted';

/** What a member's value is, judging by its name. */
type MemberName = 'encrypted' | 'reference' | 'container' | 'audio' | 'url' | 'other';

const encryptedNames = new Set([
  ...['encrypted_content', 'encrypted_index', 'encrypted_stdout'],
  ...['thoughtSignature', 'thought_signature'],
]);
/**
 * Google's documented values for calls that its models didn't make, and the gateway's own for what a host didn't sign:
 * nothing is encrypted in them.
 */
const placeholderSignatures = new Set([
  openThought,
  bytesSlot.open,
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
]);
const referenceNames = new Set([
  'file_id',
  'file_ids',
  'vector_store_ids',
  'previous_response_id',
  'connector_id',
  'tunnel_id',
  'skill_id',
  'container_id',
  'fileUri',
  'file_uri',
  'cachedContent',
  'cached_content',
  'fileSearchStoreNames',
  'file_search_store_names',
  'ragCorpus',
  'rag_corpus',
  'ragCorpora',
  'rag_corpora',
  'externalApi',
  'external_api',
  'vertexAiSearch',
  'vertex_ai_search',
  'streamableHttpTransport',
  'streamable_http_transport',
]);
/** All names that mean something, beside those that end in "_url". */
export const unseenNames = [...encryptedNames, ...referenceNames, 'container', 'audio'];
const topReferenceNames = new Set(['conversation', 'prompt', 'container', 'preset']);

const memberName = memoize((name): MemberName => {
  if (encryptedNames.has(name)) return 'encrypted';
  if (referenceNames.has(name)) return 'reference';
  if (name === 'container' || name === 'audio') return name;
  return name.endsWith('_url') ? 'url' : 'other';
});

/** The names of those that only the account has in which they were made; the others are addresses and projects. */
const keptNames = new Set([
  ...[
    'file_id',
    'file_ids',
    'vector_store_ids',
    'previous_response_id',
    'container_id',
    'container',
    'audio',
  ],
  ...['cachedContent', 'cached_content', 'fileSearchStoreNames', 'file_search_store_names'],
  ...['conversation', 'prompt', 'thread', 'preset'],
]);

/**
 * What of a reference in a request names something that one account at a host keeps, and no other has: a member, or an
 * item that has only an id. Undefined for what any account can get, such as a URL, and for a tool's own input.
 */
export function keptName({ document, entry, outer }: Place): string | undefined {
  if (outer !== undefined || /.\/(?:input|args|response)\//.test(document.pointer(entry))) return undefined;
  const name = document.isKey(entry - 1) ? document.text(entry - 1) : undefined;
  if (name !== undefined && keptNames.has(name)) return name;
  if (document.kind(entry) === kinds.object && isItemReference(document, entry)) return 'item_reference';
  const isGooglesFile = name === 'fileUri' || name === 'file_uri';
  return isGooglesFile && /\/files\/[^/]+$/.test(document.text(entry)) ? name : undefined;
}

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
      return kind === kinds.string && placeholderSignatures.has(document.text(value)) ? undefined : meaning;
    case 'reference':
      return meaning;
    case 'container':
      // A container that runs code is referred to by a text; one to be created is an object.
      return kind === kinds.string ? 'reference' : undefined;
    case 'audio':
      return document.memberText(value, 'id') === undefined ? undefined : 'reference';
    case 'url': {
      const entry = kind === kinds.object ? document.member(value, 'url') : value;
      if (entry === undefined || document.kind(entry) !== kinds.string) return 'reference';
      if (holdsBinary(document, entry)) return 'opaque';
      return isDataUrl(document.text(entry)) ? undefined : 'reference';
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
  if (isEncryptedType(type)) return 'encrypted';
  switch (type) {
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

/** Whether an item is another one by its id, with or without the type for that. */
export function isItemReference(document: JsonDocument, item: number): boolean {
  const type = document.memberText(item, 'type');
  return type === 'item_reference' || (type === undefined && isBareReference(document, item));
}

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

/**
 * Whether an entry stands for all tools of a server, or of something else whose tool names the gateway doesn't know.
 */
export function isUnnamedTool(document: JsonDocument, tool: number, type: string): boolean {
  switch (type) {
    case 'mcp':
      return !listsNames(document, document.member(tool, 'allowed_tools'));
    case 'mcp_toolset':
      return !isSwitchedOff(document, document.member(tool, 'default_config'));
    case 'mcp_toolset_reference':
      return true;
    default:
      return false;
  }
}

/** A server of the Messages API: by itself all its tools, unless a toolset or its own settings choose among them. */
export function isUnnamedServer(
  document: JsonDocument,
  server: number,
  withToolset: ReadonlySet<string>,
): boolean {
  const settings = document.member(server, 'tool_configuration');
  if (settings !== undefined && isSwitchedOff(document, settings)) return false;
  if (settings !== undefined && listsNames(document, document.member(settings, 'allowed_tools')))
    return false;
  const name = document.memberText(server, 'name');
  return name === undefined || !withToolset.has(name);
}

/** Names of the servers for which there is a toolset among the tools. */
export function serversWithToolset(document: JsonDocument): ReadonlySet<string> {
  const names = new Set<string>();
  const tools = document.member(document.root, 'tools');
  for (const tool of tools === undefined ? [] : document.elements(tools)) {
    const name = document.memberText(tool, 'mcp_server_name');
    if (name !== undefined && document.memberText(tool, 'type') === 'mcp_toolset') names.add(name);
  }
  return names;
}

/** Labels of the servers of the Responses API among the tools, and among those that items of the conversation add. */
export function labelledServers(document: JsonDocument): ReadonlySet<string> {
  const input = document.member(document.root, 'input');
  const items = input === undefined ? [] : [...document.elements(input)];
  const labels = new Set<string>();
  for (const holder of [document.root, ...items]) {
    const tools = document.member(holder, 'tools');
    for (const tool of tools === undefined ? [] : document.elements(tools)) {
      const label = document.memberText(tool, 'server_label');
      if (label !== undefined && document.memberText(tool, 'type') === 'mcp') labels.add(label);
    }
  }
  return labels;
}

function isSwitchedOff(document: JsonDocument, settings: number | undefined): boolean {
  const enabled = settings === undefined ? undefined : document.member(settings, 'enabled');
  return enabled !== undefined && document.kind(enabled) === kinds.false;
}

/** Names as a list, or as `{ tool_names }`; an empty list may mean none or all. */
function listsNames(document: JsonDocument, allowed: number | undefined): boolean {
  if (allowed === undefined) return false;
  const names = document.kind(allowed) === kinds.object ? document.member(allowed, 'tool_names') : allowed;
  if (names === undefined) return false;
  const all = [...document.elements(names)];
  return all.length > 0 && all.every((name) => document.kind(name) === kinds.string);
}
