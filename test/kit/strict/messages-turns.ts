import {
  flag,
  list,
  matching,
  nonEmptyText,
  type Owner,
  object,
  oneOf,
  optional,
  required,
  text,
} from './fields.ts';
import { invalidField, type Path } from './refusal.ts';
import { isOwnSignature, signThinking } from './signature.ts';

type Block = { readonly path: Path } & (
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string }
  | { readonly type: 'tool_result'; readonly id: string; readonly text: string }
  | { readonly type: 'thinking' | 'other' }
);

/** Consecutive messages of one role; messages of the role system are outside the turns. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly path: Path;
  readonly blocks: readonly Block[];
}

const toolId = matching(/^[a-zA-Z0-9_-]+$/);
const otherBlocks =
  /^(?:image|document|search_result|container_upload|server_tool_use|mcp_tool_use|compaction|\w+_tool_result)$/;

/** Parses `messages` into turns and checks the order that the dialect asks for. */
export function parseTurns(body: Owner): readonly Turn[] {
  const messages = required(body, 'messages', list(parseMessage, { minimum: 1 }));
  const turns: Turn[] = [];
  for (const { role, path, blocks } of messages) {
    if (role === 'system') continue;
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...blocks] };
    else turns.push({ role, path, blocks });
  }
  if (turns[0]?.role !== 'user') throw invalidField(['messages'], 'the first turn must be of the role user');
  checkEnd(turns);
  checkToolOrder(turns);
  return turns;
}

function parseMessage(value: unknown, path: Path) {
  const message = object(value, path);
  const role = required(message, 'role', oneOf(['user', 'assistant', 'system']));
  const blocks = required(message, 'content', (content, place) => parseContent(content, place, role));
  return { role, path, blocks };
}

function parseContent(content: unknown, path: Path, role: 'user' | 'assistant' | 'system'): readonly Block[] {
  if (typeof content === 'string') {
    // Only the last message may be an empty assistant message, so the whole list is needed to check that.
    if (content === '' && role !== 'assistant') throw invalidField(path, 'must not be empty');
    return [{ type: 'text', text: content, path }];
  }
  const fewest = role === 'assistant' ? 0 : 1;
  return list((block, place) => parseBlock(object(block, place), role), { minimum: fewest })(content, path);
}

function parseBlock(block: Owner, role: 'user' | 'assistant' | 'system'): Block {
  const { path } = block;
  const type = required(block, 'type', text);
  if (type === 'text') return { type, text: required(block, 'text', textWithContent), path };
  if (role === 'system') throw invalidField(path, 'a system message takes text blocks only');
  if (type === 'tool_use' || type === 'thinking' || type === 'redacted_thinking') {
    if (role !== 'assistant') throw invalidField(path, `${type} blocks belong into assistant messages`);
    return type === 'tool_use' ? parseToolUse(block) : parseThinking(block, type);
  }
  if (type === 'tool_result') {
    if (role !== 'user') throw invalidField(path, 'tool_result blocks belong into user messages');
    return parseToolResult(block);
  }
  if (!otherBlocks.test(type)) throw invalidField([...path, 'type'], 'this is no type of content block');
  if (type === 'image' || type === 'document') required(block, 'source', object);
  return { type: 'other', path };
}

function textWithContent(value: unknown, path: Path): string {
  if (text(value, path).trim() === '') throw invalidField(path, 'a text block needs more than white space');
  return text(value, path);
}

function parseToolUse(block: Owner): Block {
  required(block, 'name', nonEmptyText);
  required(block, 'input', object);
  return { type: 'tool_use', id: required(block, 'id', toolId), path: block.path };
}

function parseToolResult(block: Owner): Block {
  optional(block, 'is_error', flag);
  const content = optional(block, 'content', (value, path) => {
    if (typeof value === 'string') return value;
    const parts = list(object)(value, path);
    return parts
      .map((part) => (required(part, 'type', text) === 'text' ? required(part, 'text', text) : ''))
      .join(' ');
  });
  return {
    type: 'tool_result',
    id: required(block, 'tool_use_id', toolId),
    text: content ?? '',
    path: block.path,
  };
}

function parseThinking(block: Owner, type: 'thinking' | 'redacted_thinking'): Block {
  if (type === 'redacted_thinking') {
    required(block, 'data', nonEmptyText);
    return { type: 'thinking', path: block.path };
  }
  const thinking = required(block, 'thinking', text);
  const signature = required(block, 'signature', nonEmptyText);
  // Signatures of other hosts can't be checked here; the sandbox's own must match the text, as on the real host.
  if (isOwnSignature(signature) && signature !== signThinking(thinking)) {
    throw invalidField([...block.path, 'signature'], 'the signature does not fit the thinking it came with');
  }
  return { type: 'thinking', path: block.path };
}

function checkEnd(turns: readonly Turn[]): void {
  turns.forEach((turn, index) => {
    const isLast = index === turns.length - 1;
    if (turn.role !== 'assistant') return;
    const isEmpty = turn.blocks.every((block) => block.type === 'text' && block.text === '');
    if (isEmpty && !isLast) throw invalidField([...turn.path, 'content'], 'must not be empty');
    const end = turn.blocks.at(-1);
    if (isLast && end?.type === 'text' && end.text !== end.text.trimEnd()) {
      throw invalidField(end.path, 'a last assistant message must not end in white space');
    }
  });
}

/** The next user turn must begin with a result for every tool_use, and for nothing else. */
function checkToolOrder(turns: readonly Turn[]): void {
  const seen = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'user') checkResults(turn, turns[index - 1]);
    else checkCalls(turn, turns[index + 1], seen);
  }
}

function checkCalls(turn: Turn, after: Turn | undefined, seen: Set<string>): void {
  const results = new Set(after?.blocks.map((block) => (block.type === 'tool_result' ? block.id : '')));
  for (const block of turn.blocks) {
    if (block.type !== 'tool_use') continue;
    if (seen.has(block.id)) throw invalidField([...block.path, 'id'], 'tool_use ids must be unique');
    seen.add(block.id);
    if (results.has(block.id)) continue;
    throw invalidField(block.path, 'this tool_use has no tool_result in the message right after it');
  }
}

function checkResults(turn: Turn, before: Turn | undefined): void {
  const called = new Set(before?.blocks.map((block) => (block.type === 'tool_use' ? block.id : '')));
  const answered = new Set<string>();
  let hasOther = false;
  for (const block of turn.blocks) {
    if (block.type !== 'tool_result') {
      hasOther = true;
      continue;
    }
    if (!called.has(block.id)) {
      throw invalidField(block.path, 'there is no tool_use with this id in the message before');
    }
    if (answered.has(block.id)) throw invalidField(block.path, 'this tool_use already has its tool_result');
    if (hasOther) throw invalidField(block.path, 'tool_result blocks come before all other blocks');
    answered.add(block.id);
  }
}
