import type { ContentPart, Source } from '../conversation.ts';
import {
  type Dropped,
  type Fields,
  noteDropped,
  parseFields,
  parseList,
  parseOptionalText,
  parseText,
  toFields,
  toList,
  toText,
  unsupported,
} from '../fields.ts';
import { titled } from '../translation/media.ts';

/** One content block of a user message or a tool result as neutral parts. */
export function parseBlock(block: Fields, path: string, dropped: Dropped): ContentPart[] {
  switch (block.type) {
    case 'text': {
      const text = parseText(block.text, `${path}.text`);
      return text === '' ? [] : [{ kind: 'text', text }];
    }
    case 'image':
      return [{ kind: 'image', source: parseSource(block.source, `${path}.source`), path }];
    case 'document':
      return parseDocument(block, path, dropped);
    case 'search_result':
      return [{ kind: 'text', text: toSearchText(block) }];
    case 'tool_reference':
      noteDropped(dropped, `${path}.tool_reference`);
      return [];
    default:
      throw unsupported(path, `a block of type ${toText(block.type)} cannot be translated`);
  }
}

function parseSource(value: unknown, path: string): Source {
  const source = parseFields(value, path);
  switch (source.type) {
    case 'base64':
      return {
        kind: 'base64',
        mediaType: parseText(source.media_type, `${path}.media_type`),
        data: parseText(source.data, `${path}.data`),
      };
    case 'url':
      return { kind: 'url', url: parseText(source.url, `${path}.url`) };
    case 'text':
      return { kind: 'text', text: parseText(source.data, `${path}.data`) };
    default:
      throw unsupported(path, 'files kept at another provider cannot be translated');
  }
}

function parseDocument(block: Fields, path: string, dropped: Dropped): ContentPart[] {
  const name = parseOptionalText(block.title, `${path}.title`);
  const context = parseOptionalText(block.context, `${path}.context`);
  const lead: ContentPart[] = context === undefined ? [] : [{ kind: 'text', text: context }];
  const source = parseFields(block.source, `${path}.source`);
  if (source.type !== 'content') {
    return [...lead, { kind: 'document', source: parseSource(source, `${path}.source`), name, path }];
  }
  const { content } = source;
  if (typeof content === 'string') return [...lead, { kind: 'text', text: titled(content, name) }];
  const title: ContentPart[] = name === undefined ? [] : [{ kind: 'text', text: name }];
  const parts = parseList(content, `${path}.source.content`).flatMap((part, index) => {
    const place = `${path}.source.content[${index}]`;
    return parseBlock(parseFields(part, place), place, dropped);
  });
  return [...lead, ...title, ...parts];
}

function toSearchText(block: Fields): string {
  const texts = toList(block.content).map((part) => toText(toFields(part).text));
  return [toText(block.title), toText(block.source), ...texts].filter((text) => text !== '').join('\n\n');
}
