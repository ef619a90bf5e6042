import type { ContentPart, ContentSource, ImageSource } from '../conversation.ts';
import { unsupported } from '../fields.ts';

/** Splits a data URL with base64 content; undefined for every other URL. */
export function parseDataUrl(url: string): Extract<ContentSource, { kind: 'base64' }> | undefined {
  if (!url.startsWith('data:')) return undefined;
  const comma = url.indexOf(',');
  const head = url.slice('data:'.length, comma);
  if (comma < 0 || !head.endsWith(';base64')) return undefined;
  const mediaType = toMediaType(head.slice(0, -';base64'.length).split(';')[0] ?? '');
  return { kind: 'base64', mediaType, data: url.slice(comma + 1) };
}

/** In the one spelling that all hosts take: `image/JPG` is `image/jpeg`. */
export function toMediaType(written: string): string {
  const type = written.trim().toLowerCase();
  return type === 'image/jpg' || type === 'image/pjpeg' ? 'image/jpeg' : type;
}

export function parseMediaUrl(url: string, path: string): ImageSource {
  if (!url.startsWith('data:')) return { kind: 'url', url };
  const source = parseDataUrl(url);
  if (source === undefined) throw unsupported(path, 'a data URL must be base64 with a media type');
  return source;
}

export function keptElsewhere(path: string): Error {
  return unsupported(path, 'files kept at another provider cannot be translated');
}

/** A source as one URL; text has none and is spelled out by the caller. */
export function toUrl(source: Exclude<ContentSource, { kind: 'text' }>): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

export function isPdf(source: ContentSource): boolean {
  return source.kind === 'base64' && source.mediaType === 'application/pdf';
}

/** A document whose content is plain text, as that text; undefined if it is binary or elsewhere. */
export function toDocumentText(source: ContentSource): string | undefined {
  if (source.kind === 'text') return source.text;
  if (source.kind === 'base64' && source.mediaType.startsWith('text/')) {
    return Buffer.from(source.data, 'base64').toString('utf8');
  }
  return undefined;
}

/** The part itself, but as text where it is a document of plain text. */
export function toTextPart(part: ContentPart): ContentPart {
  const text = part.kind === 'document' ? toDocumentText(part.source) : undefined;
  return part.kind !== 'document' || text === undefined
    ? part
    : { kind: 'text', text: titled(text, part.name) };
}

export function isMedia(part: ContentPart): boolean {
  return part.kind !== 'text';
}

/** No part for an empty text. */
export function textParts(text: string): ContentPart[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}

/** Documents as text include their name, so that the model can tell them apart. */
export function titled(text: string, name: string | undefined): string {
  return name === undefined || name === '' ? text : `${name}\n\n${text}`;
}

/** Texts with blank lines between them; empty ones are left out. */
export function paragraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

export function joinTexts(parts: readonly ContentPart[], separator: string): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join(separator);
}

/** A system turn as text, for dialects that have no place for one in mid-conversation. */
export function markSystemText(text: string): string {
  return `<system>\n${text}\n</system>`;
}
