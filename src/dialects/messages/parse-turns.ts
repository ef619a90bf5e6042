import type { ContentPart, ToolCall, ToolResult, Turn } from '../conversation.ts';
import {
  type Dropped,
  type Fields,
  noteDropped,
  parseFields,
  parseList,
  parseText,
  toText,
  unsupported,
  wrongField,
} from '../fields.ts';
import { joinTexts } from '../translation/media.ts';
import { parseBlock } from './parse-blocks.ts';

/** The turns of a Messages request; tool results become turns of their own, ahead of their message's rest. */
export function parseMessagesTurns(messages: readonly unknown[], dropped: Dropped): Turn[] {
  return messages.flatMap((entry, index): Turn[] => {
    const path = `messages[${index}]`;
    const message = parseFields(entry, path);
    switch (message.role) {
      case 'user':
        return parseUser(message, path, dropped);
      case 'assistant':
        return [parseAssistant(message, path, dropped)];
      case 'system':
        return parseSystem(message, path);
      default:
        throw wrongField(`${path}.role`, 'user, assistant or system');
    }
  });
}

/** All text blocks of a system prompt, blank lines between them. */
export function parseSystemText(value: unknown, path: string): string {
  return parseBlocks(value, path)
    .map((block, index) => parseText(block.text, `${path}[${index}].text`))
    .filter((text) => text !== '')
    .join('\n\n');
}

function parseSystem(message: Fields, path: string): Turn[] {
  const text = parseSystemText(message.content, `${path}.content`);
  return text === '' ? [] : [{ role: 'system', isDeveloper: false, text }];
}

function parseUser(message: Fields, path: string, dropped: Dropped): Turn[] {
  const results: ToolResult[] = [];
  const parts: ContentPart[] = [];
  parseBlocks(message.content, `${path}.content`).forEach((block, index) => {
    const place = `${path}.content[${index}]`;
    if (block.type === 'tool_result') results.push(parseResult(block, place, dropped));
    else for (const part of parseBlock(block, place, dropped)) parts.push(part);
  });
  const turns: Turn[] = results.length > 0 ? [{ role: 'results', results }] : [];
  if (parts.length > 0) turns.push({ role: 'user', parts });
  return turns;
}

function parseResult(block: Fields, path: string, dropped: Dropped): ToolResult {
  const content = block.content ?? '';
  return {
    callId: parseText(block.tool_use_id, `${path}.tool_use_id`),
    parts: parseBlocks(content, `${path}.content`).flatMap((part, index) =>
      parseBlock(part, `${path}.content[${index}]`, dropped),
    ),
    isError: block.is_error === true,
    path,
  };
}

function parseAssistant(message: Fields, path: string, dropped: Dropped): Turn {
  const texts: ContentPart[] = [];
  const calls: ToolCall[] = [];
  parseBlocks(message.content, `${path}.content`).forEach((block, index) => {
    const place = `${path}.content[${index}]`;
    switch (block.type) {
      case 'text':
        texts.push({ kind: 'text', text: parseText(block.text, `${place}.text`) });
        return;
      case 'tool_use':
        calls.push(parseCall(block, place));
        return;
      case 'thinking':
      case 'redacted_thinking':
      case 'server_tool_use':
        noteDropped(dropped, `${place}.${block.type}`);
        return;
      default:
        parseOtherBlock(block, place, dropped);
    }
  });
  return { role: 'assistant', text: joinTexts(texts, ''), calls };
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

function parseBlocks(content: unknown, path: string): Fields[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return parseList(content, path).map((block, index) => parseFields(block, `${path}[${index}]`));
}
