import { type JsonDocument, kinds } from '../../json/json-document.ts';

const imageTypes = new Set(['image_url', 'input_image', 'image']);
/** Where the three dialects say which image it is: at once, or in an object. */
const members = ['image_url', 'source', 'url', 'file_id'];

/** How many images a request only names, by an address or a file's id, so that its bytes say nothing about them. */
export function countRemoteImages(document: JsonDocument): number {
  let count = 0;
  for (let entry = 0; entry < document.count; entry += 1) {
    if (document.kind(entry) !== kinds.object) continue;
    const type = document.memberText(entry, 'type');
    if (type !== undefined && imageTypes.has(type) && isNamed(document, entry)) count += 1;
  }
  return count;
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
