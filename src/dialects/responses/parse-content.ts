import type { ContentPart } from '../conversation.ts';
import { type Fields, parseFields, parseList, parseOptionalText, parseText, unsupported } from '../fields.ts';
import { parseDataUrl, parseMediaUrl } from '../translation/media.ts';

/** The content of a message item or of a call's output. */
export function parseContent(content: unknown, path: string): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return parseList(content, path).flatMap((entry, index) => {
    const place = `${path}[${index}]`;
    return parsePart(parseFields(entry, place), place);
  });
}

function parsePart(part: Fields, path: string): ContentPart[] {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return textPart(parseText(part.text, `${path}.text`));
    case 'refusal':
      return textPart(parseText(part.refusal, `${path}.refusal`));
    case 'input_image':
      return [parseImage(part, path)];
    case 'input_file':
      return [parseFile(part, path)];
    default:
      throw unsupported(path, 'only text, images and files can be translated');
  }
}

function textPart(text: string): ContentPart[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}

function parseImage(part: Fields, path: string): ContentPart {
  const url = parseOptionalText(part.image_url, `${path}.image_url`);
  if (url === undefined) throw keptElsewhere(path);
  const detail = parseOptionalText(part.detail, `${path}.detail`);
  return { kind: 'image', source: parseMediaUrl(url, `${path}.image_url`), detail, path };
}

function parseFile(part: Fields, path: string): ContentPart {
  const name = parseOptionalText(part.filename, `${path}.filename`);
  const url = parseOptionalText(part.file_url, `${path}.file_url`);
  if (url !== undefined)
    return { kind: 'document', source: parseMediaUrl(url, `${path}.file_url`), name, path };
  const data = parseOptionalText(part.file_data, `${path}.file_data`);
  if (data === undefined) throw keptElsewhere(path);
  // Some clients leave out the beginning of the data URL; it is usually PDF.
  const source = parseDataUrl(data) ?? { kind: 'base64', mediaType: 'application/pdf', data };
  return { kind: 'document', source, name, path };
}

function keptElsewhere(path: string): Error {
  return unsupported(path, 'files kept at another provider cannot be translated');
}
