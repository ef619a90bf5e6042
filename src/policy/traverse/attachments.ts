import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { holdsPdf } from './encoded.ts';

/** Types of the parts that are an image, in all dialects. */
export const imageTypes: ReadonlySet<string> = new Set([
  'image_url',
  'input_image',
  'image',
  'computer_screenshot',
]);
/** Types of the parts that are a document or another file. */
export const fileTypes: ReadonlySet<string> = new Set([
  ...['file', 'input_file', 'document', 'document_url', 'file_url'],
]);
/** Data to a provider, whose members may have any name: arguments and results of calls, and schemas. */
export const dataMembers: ReadonlySet<string> = new Set([
  ...['input', 'args', 'arguments', 'response', 'action', 'metadata', 'parameters', 'input_schema', 'schema'],
  ...['json_schema', 'responseSchema', 'response_schema', 'responseJsonSchema', 'response_json_schema'],
]);

/** The first image and the first document of a request; undefined if there is none. */
export interface Attachments {
  readonly image: number | undefined;
  readonly document: number | undefined;
}

/** Looks at every object that a provider reads as a part of the request, wherever it is. */
export function findAttachments(document: JsonDocument): Attachments {
  const { root } = document;
  const data = new Set(document.elements(document.member(root, 'tools') ?? root));
  data.add(document.member(root, 'metadata') ?? -1);
  const found: { image: number | undefined; document: number | undefined } = {
    image: undefined,
    document: undefined,
  };
  const next = (entry: number) => document.nextOfKind(entry, kinds.object);
  for (let block = next(0); block < document.count; ) {
    if (data.has(block)) {
      block = next(document.next(block));
      continue;
    }
    const kind = kindOf(document, block);
    if (kind !== undefined) found[kind] ??= block;
    for (let key = block + 1; block !== root && key < document.next(block); key = document.next(key + 1)) {
      const isObject = document.kind(key + 1) === kinds.object;
      if (isObject && dataMembers.has(document.text(key))) data.add(key + 1);
    }
    block = next(block + 1);
  }
  return found;
}

/** Google names the media type, all others the kind of the part. */
function kindOf(document: JsonDocument, block: number): keyof Attachments | undefined {
  const type = document.memberText(block, 'type') ?? '';
  if (imageTypes.has(type)) return holdsDocument(document, block) ? 'document' : 'image';
  if (fileTypes.has(type)) return 'document';
  const media = document.memberText(block, 'mimeType') ?? document.memberText(block, 'mime_type');
  if (media === undefined || /^(?:audio|video)\//i.test(media)) return undefined;
  return /^image\//i.test(media) && !holdsDocument(document, block) ? 'image' : 'document';
}

/** Whether what is labelled as an image holds a PDF, at once or in an object: hosts may go by the content. */
function holdsDocument(document: JsonDocument, block: number): boolean {
  const values = membersOf(document, block);
  return values
    .flatMap((value) =>
      document.kind(value) === kinds.object ? [value, ...membersOf(document, value)] : [value],
    )
    .some((value) => document.kind(value) === kinds.string && holdsPdf(headOf(document, value)));
}

function membersOf(document: JsonDocument, object: number): number[] {
  const values: number[] = [];
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) values.push(key + 1);
  return values;
}

/** Enough of a text for the head of a data URL and the beginning of what is in it. */
const headLength = 2_048;

function headOf(document: JsonDocument, entry: number): string {
  if (document.isEscaped(entry)) return document.text(entry).slice(0, headLength);
  const start = document.start(entry);
  return document.bytes.toString('latin1', start, Math.min(document.end(entry), start + headLength));
}
