import {
  type AnswerPart,
  addText,
  type ContentPart,
  type ContentSource,
  type ImageSource,
  type Thought,
  type ToolCall,
  type ToolResult,
  type Turn,
} from '../conversation.ts';
import {
  type Dropped,
  type Fields,
  noteDropped,
  parseEach,
  parseFields,
  parseOptionalText,
  parseText,
  toFields,
  toList,
  toText,
  unsupported,
  wrongField,
} from '../fields.ts';
import { keptElsewhere, paragraphs, textParts, titled, toMediaType } from '../translation/media.ts';
import { systemTurns } from '../translation/parse-common.ts';
import { isOurSeal, parseSeal } from '../translation/seals.ts';

/** The turns of a Messages request; tool results become turns of their own, ahead of their message's rest. */
export function parseMessagesTurns(messages: unknown, dropped: Dropped): Turn[] {
  return parseEach(messages, 'messages', (message, path): Turn[] => {
    switch (message.role) {
      case 'user':
        return parseUser(message, path, dropped);
      case 'assistant':
        return [parseAssistant(message, path, dropped)];
      case 'system':
        return systemTurns(parseSystemText(message.content, `${path}.content`));
      default:
        throw wrongField(`${path}.role`, 'user, assistant or system');
    }
  }).flat();
}

/**
 * A line of Claude Code's for Anthropic alone, with another hash in each conversation: before a prompt it would keep other
 * hosts from finding that in their caches (1rgs/claude-code-proxy#99, ollama#14918, 2026-04).
 */
const billingHeader = 'x-anthropic-billing-header:';

function withoutBilling(text: string): string {
  if (!text.startsWith(billingHeader)) return text;
  const end = text.indexOf('\n');
  return end < 0 ? '' : text.slice(end + 1);
}

/** All text blocks of a system prompt, blank lines between them. */
export function parseSystemText(value: unknown, path: string): string {
  const texts = parseBlocks(value, path, (block, place) =>
    block.type === 'tool_addition' || block.type === 'tool_removal'
      ? ''
      : parseText(block.text, `${place}.text`),
  );
  return paragraphs(texts.map(withoutBilling));
}

function parseUser(message: Fields, path: string, dropped: Dropped): Turn[] {
  const results: ToolResult[] = [];
  const parts: ContentPart[] = [];
  parseBlocks(message.content, `${path}.content`, (block, place) => {
    if (block.type === 'tool_result') results.push(parseResult(block, place, dropped));
    else for (const part of parseBlock(block, place, dropped)) parts.push(part);
  });
  const turns: Turn[] = results.length > 0 ? [{ role: 'results', results }] : [];
  if (parts.length > 0) turns.push({ role: 'user', parts });
  return turns;
}

function parseResult(block: Fields, path: string, dropped: Dropped): ToolResult {
  return {
    callId: parseText(block.tool_use_id, `${path}.tool_use_id`),
    parts: parseBlocks(block.content ?? '', `${path}.content`, (part, place) =>
      parseBlock(part, place, dropped),
    ).flat(),
    isError: block.is_error === true,
    path,
  };
}

function parseAssistant(message: Fields, path: string, dropped: Dropped): Turn {
  const parts: AnswerPart[] = [];
  parseBlocks(message.content, `${path}.content`, (block, place) => {
    switch (block.type) {
      case 'text':
        addText(parts, parseText(block.text, `${place}.text`));
        return;
      case 'tool_use':
        parts.push({ kind: 'call', call: parseCall(block, place) });
        return;
      case 'thinking':
      case 'redacted_thinking': {
        const thought = parseThought(block);
        if (thought === undefined) noteDropped(dropped, `${place}.${block.type}`);
        else parts.push(thought);
        return;
      }
      case 'compaction':
        addText(parts, toText(block.content));
        return;
      case 'server_tool_use':
      case 'mcp_tool_use':
      case 'mcp_tool_listing':
      case 'fallback':
        noteDropped(dropped, `${place}.${block.type}`);
        return;
      default:
        parseOtherBlock(block, place, dropped);
    }
  });
  return { role: 'assistant', parts };
}

/** Undefined for what another vendor has signed or encrypted: it is for that vendor alone. */
function parseThought(block: Fields): Thought | undefined {
  const signature = toText(block.type === 'thinking' ? block.signature : block.data);
  const seal = parseSeal(signature);
  if (signature !== '' && !isOurSeal(signature)) return undefined;
  return { kind: 'thinking', text: toText(block.thinking), seal };
}

function parseCall(block: Fields, path: string): ToolCall {
  return {
    kind: 'function',
    id: parseText(block.id, `${path}.id`),
    name: parseText(block.name, `${path}.name`),
    input: JSON.stringify(parseFields(block.input ?? {}, `${path}.input`)),
  };
}

// Results of tools that the provider ran itself come back in the assistant's turn; their text is in the answer already.
function parseOtherBlock(block: Fields, path: string, dropped: Dropped): void {
  const type = toText(block.type);
  if (!type.endsWith('_tool_result')) throw unsupported(path, `a block of type ${type} cannot be translated`);
  noteDropped(dropped, `${path}.${type}`);
}

function parseBlocks<Part>(
  content: unknown,
  path: string,
  parse: (block: Fields, path: string) => Part,
): Part[] {
  if (content === '') return [];
  return parseEach(typeof content === 'string' ? [{ type: 'text', text: content }] : content, path, parse);
}

/** One content block of a user message or a tool result as neutral parts. */
function parseBlock(block: Fields, path: string, dropped: Dropped): ContentPart[] {
  switch (block.type) {
    case 'text':
      return textParts(parseText(block.text, `${path}.text`));
    case 'image':
      return [{ kind: 'image', source: parseImageSource(block.source, `${path}.source`), path }];
    case 'document':
      return parseDocument(block, path, dropped);
    case 'search_result':
      return [{ kind: 'text', text: toSearchText(block) }];
    case 'tool_reference':
      return [{ kind: 'text', text: `[the tool ${toText(block.tool_name)} can be called from now on]` }];
    case 'tool_addition':
    case 'tool_removal':
      return []; // the tools of the request say it
    default:
      throw unsupported(path, `a block of type ${toText(block.type)} cannot be translated`);
  }
}

function parseImageSource(value: unknown, path: string): ImageSource {
  const source = parseSource(value, path);
  if (source.kind === 'text') throw wrongField(`${path}.type`, 'base64 or url');
  return source;
}

function parseSource(value: unknown, path: string): ContentSource {
  const source = parseFields(value, path);
  switch (source.type) {
    case 'base64':
      return {
        kind: 'base64',
        mediaType: toMediaType(parseText(source.media_type, `${path}.media_type`)),
        data: parseText(source.data, `${path}.data`),
      };
    case 'url':
      return { kind: 'url', url: parseText(source.url, `${path}.url`) };
    case 'text':
      return { kind: 'text', text: parseText(source.data, `${path}.data`) };
    default:
      throw keptElsewhere(path);
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
  const parts = parseEach(content, `${path}.source.content`, (part, place) =>
    parseBlock(part, place, dropped),
  );
  return [...lead, ...title, ...parts.flat()];
}

function toSearchText(block: Fields): string {
  const texts = toList(block.content).map((part) => toText(toFields(part).text));
  return paragraphs([toText(block.title), toText(block.source), ...texts]);
}
