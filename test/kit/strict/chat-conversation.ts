import {
  list,
  nonEmptyText,
  type Owner,
  object,
  oneOf,
  optional,
  type Parse,
  required,
  text,
} from './fields.ts';
import { invalidField, type Path } from './refusal.ts';

export interface ChatConversation {
  readonly userText: string;
  readonly toolResults: readonly string[];
}

interface Message {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'function';
  readonly path: Path;
  /** The texts of its content. */
  readonly texts: readonly string[];
  readonly calls: readonly string[];
  /** The call that a tool message answers. */
  readonly answers?: string;
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;
const textParts = ['text'] as const;
const userParts = ['text', 'image_url', 'input_audio', 'file'] as const;
const assistantParts = ['text', 'refusal'] as const;

/** Parses `messages` and checks that every tool call is answered right after it. */
export function parseChatConversation(body: Owner): ChatConversation {
  const messages = required(body, 'messages', list(parseMessage, { minimum: 1 }));
  checkToolOrder(messages);
  const lastAssistant = messages.findLastIndex(({ role }) => role === 'assistant');
  return {
    userText: messages.findLast(({ role }) => role === 'user')?.texts.at(-1) ?? '',
    toolResults: messages
      .slice(lastAssistant + 1)
      .flatMap((message) => (message.role === 'tool' ? [message.texts.join(' ')] : [])),
  };
}

function parseMessage(value: unknown, path: Path): Message {
  const message = object(value, path);
  const role = required(message, 'role', oneOf(roles));
  optional(message, 'name', text);
  switch (role) {
    case 'assistant':
      return parseAssistant(message);
    case 'tool': {
      const answers = required(message, 'tool_call_id', nonEmptyText);
      return { role, path, texts: required(message, 'content', contentOf(textParts)), calls: [], answers };
    }
    case 'user':
      return { role, path, texts: required(message, 'content', contentOf(userParts)), calls: [] };
    case 'function':
      required(message, 'name', nonEmptyText);
      return { role, path, texts: optional(message, 'content', contentOf(textParts)) ?? [], calls: [] };
    default:
      return { role, path, texts: required(message, 'content', contentOf(textParts)), calls: [] };
  }
}

function parseAssistant(message: Owner): Message {
  const { path } = message;
  const calls = optional(message, 'tool_calls', list(parseCall, { minimum: 1 })) ?? [];
  const texts = optional(message, 'content', contentOf(assistantParts));
  const refusal = optional(message, 'refusal', text);
  optional(message, 'reasoning_content', text);
  const isOldCall = optional(message, 'function_call', object) !== undefined;
  if (texts === undefined && calls.length === 0 && refusal === undefined && !isOldCall) {
    throw invalidField([...path, 'content'], 'an assistant message needs content or tool_calls');
  }
  return { role: 'assistant', path, texts: texts ?? [], calls };
}

function parseCall(value: unknown, path: Path): string {
  const call = object(value, path);
  const type = required(call, 'type', oneOf(['function', 'custom']));
  const inner = required(call, type, object);
  required(inner, 'name', nonEmptyText);
  required(inner, type === 'function' ? 'arguments' : 'input', text);
  return required(call, 'id', nonEmptyText);
}

function contentOf(types: readonly string[]): Parse<readonly string[]> {
  return (value, path) => {
    if (typeof value === 'string') return [value];
    if (!Array.isArray(value))
      throw invalidField(path, 'must be a string or an array of parts', 'invalid_type');
    return list((part, place) => parsePart(object(part, place), types), { minimum: 1 })(value, path).flat();
  };
}

function parsePart(part: Owner, types: readonly string[]): readonly string[] {
  const type = required(part, 'type', oneOf(types));
  if (type === 'text' || type === 'refusal') return [required(part, type, text)];
  const inner = required(part, type, object);
  if (type === 'image_url') required(inner, 'url', nonEmptyText);
  if (type === 'input_audio') {
    required(inner, 'data', nonEmptyText);
    required(inner, 'format', nonEmptyText);
  }
  return [];
}

/** Tool messages directly follow the assistant message with their calls, one for each call. */
function checkToolOrder(messages: readonly Message[]): void {
  let open = new Set<string>();
  let caller: Message | undefined;
  for (const message of messages) {
    if (message.answers !== undefined) {
      if (caller?.calls.includes(message.answers) !== true) {
        throw invalidField(
          message.path,
          'a tool message must follow the assistant message with its tool call',
        );
      }
      open.delete(message.answers);
      continue;
    }
    checkAnswered(caller, open);
    caller = message.role === 'assistant' && message.calls.length > 0 ? message : undefined;
    open = new Set(message.calls);
  }
  checkAnswered(caller, open);
}

function checkAnswered(caller: Message | undefined, open: ReadonlySet<string>): void {
  if (caller === undefined || open.size === 0) return;
  const problem = 'every tool call needs a tool message right after this message; missing are';
  throw invalidField([...caller.path, 'tool_calls'], `${problem} ${[...open].join(', ')}`);
}
