import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { isBase64, isDataUrl, readBase64 } from './encoded.ts';

/** Shorter unlabelled base64 is taken for a word. */
const shortestBase64 = 32;

/** The content of an object: texts, each a reading of the same bytes at `data`, or content that can't be read. */
export interface Source {
  readonly data: number;
  readonly texts: readonly string[];
  readonly unseen?: 'opaque' | 'reference';
}

/**
 * Reads an object that contains bytes: `{ media_type, data }`, audio as `{ format, data }`, or `{ url }`. In a
 * conversation type, media type and format may all be missing: bytes are bytes.
 */
export function readSource(
  document: JsonDocument,
  object: number,
  isInConversation: boolean,
): Source | undefined {
  const type = document.memberText(object, 'type');
  const url = document.memberText(object, 'url');
  if (url !== undefined && !isDataUrl(url) && (type === 'url' || (type === undefined && isInConversation))) {
    return { data: object, texts: [], unseen: 'reference' };
  }
  const data = document.member(object, 'data');
  if (data === undefined || document.kind(data) === kinds.null) return undefined;
  if (type === 'text' || type === 'redacted_thinking') return undefined;
  const mediaType = mediaTypeOf(document, object);
  const isClaimed = mediaType !== undefined || type === 'base64' || isSound(document, object);
  if (document.kind(data) !== kinds.string) {
    return isClaimed ? { data, texts: [], unseen: 'opaque' } : undefined;
  }
  const text = document.text(data);
  // A data URL has already been read in place.
  if (isDataUrl(text)) return undefined;
  const isHidden = isInConversation && text.length >= shortestBase64 && isBase64(text);
  if (!isClaimed && !isHidden) return undefined;
  const { texts, isOpaque } = readBase64(text, mediaType);
  return isOpaque ? { data, texts, unseen: 'opaque' } : { data, texts };
}

function mediaTypeOf(document: JsonDocument, object: number): string | undefined {
  return (
    document.memberText(object, 'media_type') ??
    document.memberText(object, 'mime_type') ??
    document.memberText(object, 'mimeType')
  );
}

function isSound(document: JsonDocument, object: number): boolean {
  const format = document.member(object, 'format');
  return format !== undefined && document.kind(format) === kinds.string;
}
