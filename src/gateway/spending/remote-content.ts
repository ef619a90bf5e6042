import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { isTopReference, unseenBlock } from '../../policy/traverse/unseen.ts';

// What a request only names, by an address or an id, so that its bytes say nothing about its tokens.

const imageTypes = ['image_url', 'input_image', 'image'];
const fileTypes = ['file', 'input_file', 'document'];
/** Where dialects say which image or file it is: at once, or in an object. */
const members = ['image_url', 'source', 'url', 'file', 'file_id', 'file_url'];
const geminiFiles = ['fileData', 'file_data'];
const caches = ['cachedContent', 'cached_content'];

/** How many images it only names: there is a most that each can count as. */
export function countRemoteImages(document: JsonDocument): number {
  let count = 0;
  const next = (entry: number) => document.nextOfKind(entry, kinds.object);
  for (let entry = next(0); entry < document.count; entry = next(entry + 1))
    if (isBlockOf(document, entry, imageTypes) && isNamed(document, entry)) count += 1;
  return count;
}

/** Whether it names anything else: files, caches, earlier answers and conversations that the provider keeps. */
export function hasRemoteContent(document: JsonDocument): boolean {
  const { root } = document;
  if (caches.some((name) => isSet(document, document.member(root, name)))) return true;
  if (isSet(document, document.member(root, 'previous_response_id'))) return true;
  const kept = ['conversation', 'prompt', 'thread'].some((name) => {
    const value = document.member(root, name);
    return value !== undefined && isTopReference(document, name, value);
  });
  if (kept || hasBareItem(document, document.member(root, 'input'))) return true;
  const next = (entry: number) => document.nextOfKind(entry, kinds.object);
  for (let entry = next(0); entry < document.count; entry = next(entry + 1)) {
    if (isBlockOf(document, entry, fileTypes) && isNamed(document, entry)) return true;
    if (geminiFiles.some((name) => isObject(document, document.member(entry, name)))) return true;
  }
  return false;
}

/** An item of Responses that consists only of its id. */
function hasBareItem(document: JsonDocument, list: number | undefined): boolean {
  if (list === undefined || document.kind(list) !== kinds.array) return false;
  for (let item = list + 1; item < document.next(list); item = document.next(item)) {
    if (document.kind(item) !== kinds.object) continue;
    const type = document.memberText(item, 'type');
    if (unseenBlock(document, item, { type, hasId: true }) === 'reference') return true;
  }
  return false;
}

function isBlockOf(document: JsonDocument, object: number, types: readonly string[]): boolean {
  const type = document.member(object, 'type');
  return type !== undefined && types.some((each) => document.isText(type, each));
}

function isNamed(document: JsonDocument, object: number): boolean {
  return members.some((name) => {
    const entry = document.member(object, name);
    if (entry === undefined) return false;
    if (document.kind(entry) === kinds.object) return isNamed(document, entry);
    const start = document.start(entry);
    const isData = /^data:$/i.test(document.bytes.toString('latin1', start, start + 'data:'.length));
    return document.kind(entry) === kinds.string && !isData;
  });
}

function isObject(document: JsonDocument, entry: number | undefined): boolean {
  return entry !== undefined && document.kind(entry) === kinds.object;
}

function isSet(document: JsonDocument, entry: number | undefined): boolean {
  return entry !== undefined && document.kind(entry) !== kinds.null;
}
