import {
  type ContentPart,
  type ConversationRequest,
  type Thought,
  type Tool,
  type ToolCall,
  type ToolName,
  type Turn,
  textPart,
} from '../conversation.ts';
import {
  type Fields,
  isFields,
  parseCap,
  parseEach,
  parseFields,
  parseOptionalText,
  parseText,
  parseTexts,
  toFields,
  toList,
  toText,
  unsupported,
  wrongField,
} from '../fields.ts';
import { paragraphs, parseMediaUrl, textParts } from '../translation/media.ts';
import {
  parseOpenAiFile,
  parseOpenAiFormat,
  parseOpenAiOptions,
  parseOpenAiTool,
  parseOpenAiToolChoice,
} from '../translation/openai-request.ts';
import { parseEffort, splitSystem } from '../translation/parse-common.ts';
import { parseSeal } from '../translation/seals.ts';
import { toThinking } from './answer.ts';

/** A Chat Completions request in the neutral form. */
export function parseChatRequest(body: Fields): ConversationRequest {
  const choice = parseOpenAiToolChoice(body.tool_choice, parseChatTools(body.tools), choices);
  const limit = parseCap(body.max_completion_tokens, 'max_completion_tokens');
  return {
    ...splitSystem(parseEach(body.messages, 'messages', parseMessage)),
    ...choice,
    maxOutputTokens: limit ?? parseCap(body.max_tokens, 'max_tokens'),
    stop: parseStop(body.stop),
    effort: parseEffort(body.reasoning_effort, 'reasoning_effort'),
    format: parseOpenAiFormat(body.response_format, 'response_format', schemaOf),
    verbosity: parseOptionalText(body.verbosity, 'verbosity'),
    ...parseOpenAiOptions(body),
  };
}

function parseStop(value: unknown): string[] {
  return typeof value === 'string' ? [value] : parseTexts(value ?? [], 'stop');
}

/** The schema is one level deeper, and may be left out. */
function schemaOf(format: Fields): readonly [Fields, string] {
  const path = 'response_format.json_schema';
  const nested = parseFields(format.json_schema, path);
  return [{ ...nested, schema: nested.schema ?? {} }, path];
}

function parseChatTools(value: unknown): Tool[] {
  return parseEach(value ?? [], 'tools', ({ type, ...tool }, path) => {
    if (type !== 'function' && type !== 'custom') throw wrongField(`${path}.type`, 'function or custom');
    const place = `${path}.${type}`;
    return parseOpenAiTool(type, parseFields(tool[type], place), place);
  });
}

/** The tool that a choice or a call names. */
function parseNamed(holder: Fields, path: string): ToolName {
  const kind = holder.type === 'custom' ? 'custom' : 'function';
  const nested = parseFields(holder[kind], `${path}.${kind}`);
  return { kind, name: parseText(nested.name, `${path}.${kind}.name`) };
}

const choices = {
  chosen: parseNamed,
  allowed: ({ allowed_tools: allowed }: Fields) => {
    const path = 'tool_choice.allowed_tools';
    return [parseFields(allowed, path), path] as const;
  },
  nameOf: (entry: Fields, path: string) => parseNamed(entry, path).name,
  unknown: () => unsupported('tool_choice', 'this kind of choice cannot be translated'),
};

function parseMessage(message: Fields, path: string): Turn {
  const place = `${path}.content`;
  const { role, content } = message;
  switch (role) {
    case 'system':
    case 'developer':
      return {
        role: 'system',
        isDeveloper: role === 'developer',
        text: parsePlainText(content, place),
        breakpoint: parseBreakpoint(toFields(toList(content).at(-1))) ?? parseBreakpoint(message),
      };
    case 'user':
      return { role: 'user', parts: marked(parseParts(content, place), message) };
    case 'assistant':
      return parseAssistant(message, path);
    case 'tool': {
      const callId = parseText(message.tool_call_id, `${path}.tool_call_id`);
      return {
        role: 'results',
        results: [{ callId, parts: marked(parseParts(content ?? '', place), message), isError: false, path }],
      };
    }
    case 'function':
      throw unsupported(`${path}.role`, 'the old role function cannot be translated; use tool');
    default:
      throw wrongField(`${path}.role`, 'system, developer, user, assistant or tool');
  }
}

function parseAssistant(message: Fields, path: string): Turn {
  if (message.audio !== undefined && message.audio !== null) {
    throw unsupported(`${path}.audio`, 'spoken answers cannot be translated');
  }
  if (message.function_call !== undefined && message.function_call !== null) {
    throw unsupported(`${path}.function_call`, 'the old form of calls cannot be translated; use tool_calls');
  }
  const text = parsePlainText(message.content ?? '', `${path}.content`, { hasThoughts: true });
  const refusal = parseOptionalText(message.refusal, `${path}.refusal`) ?? '';
  const calls = parseEach(message.tool_calls ?? [], `${path}.tool_calls`, parseCall);
  const parts = [...parseThoughts(message), ...textPart('text', text || refusal)];
  return { role: 'assistant', parts: [...parts, ...calls.map((call) => ({ kind: 'call', call }) as const)] };
}

/** What hosts and clients of this dialect send for it: one text, and encrypted details as OpenRouter has them. */
function parseThoughts(message: Fields): Thought[] {
  const text = toThinking(message);
  const [seal, ...others] = toList(message.reasoning_details).flatMap(
    (detail) => parseSeal(toText(toFields(detail).data)) ?? [],
  );
  const first: Thought[] = text === '' && seal === undefined ? [] : [{ kind: 'thinking', text, seal }];
  return [...first, ...others.map((other) => ({ kind: 'thinking', text: '', seal: other }) as const)];
}

function parseCall(call: Fields, path: string): ToolCall {
  const id = parseText(call.id, `${path}.id`);
  const { kind, name } = parseNamed(call, path);
  const nested = toFields(call[kind]);
  const input =
    kind === 'custom'
      ? parseText(nested.input, `${path}.custom.input`)
      : (parseOptionalText(nested.arguments, `${path}.function.arguments`) ?? '');
  const { google } = toFields(call.extra_content);
  return { kind, id, name, input, seal: parseSeal(toText(toFields(google).thought_signature)) };
}

/** `hasThoughts`: parts with what a model of Mistral's thought are not its text (`toThinking` reads them). */
function parsePlainText(content: unknown, path: string, { hasThoughts = false } = {}): string {
  if (typeof content === 'string') return content;
  const texts = parseEach(content, path, (part, place) => {
    if (hasThoughts && part.type === 'thinking') return [];
    const key = part.type === 'refusal' ? 'refusal' : 'text';
    return [parseText(part[key], `${place}.${key}`)];
  });
  return paragraphs(texts.flat());
}

function parseParts(content: unknown, path: string): ContentPart[] {
  return typeof content === 'string' ? textParts(content) : parseEach(content, path, parsePart).flat();
}

function parsePart(part: Fields, path: string): ContentPart[] {
  const breakpoint = parseBreakpoint(part);
  const parts = parsePlainPart(part, path);
  return breakpoint === undefined ? parts : parts.map((each) => ({ ...each, breakpoint }));
}

/** Some clients mark a message, which is a mark at its end. */
function marked(parts: readonly ContentPart[], message: Fields): readonly ContentPart[] {
  const breakpoint = parseBreakpoint(message);
  const last = parts.at(-1);
  if (breakpoint === undefined || last === undefined || last.breakpoint !== undefined) return parts;
  return [...parts.slice(0, -1), { ...last, breakpoint }];
}

function parseBreakpoint({ cache_control: control }: Fields): Fields | undefined {
  return isFields(control) && control.type === 'ephemeral' ? control : undefined;
}

function parsePlainPart(part: Fields, path: string): ContentPart[] {
  switch (part.type) {
    case 'text':
      return textParts(parseText(part.text, `${path}.text`));
    case 'image_url': {
      const image = parseFields(part.image_url, `${path}.image_url`);
      const url = parseText(image.url, `${path}.image_url.url`);
      const detail = parseOptionalText(image.detail, `${path}.image_url.detail`);
      return [{ kind: 'image', source: parseMediaUrl(url, `${path}.image_url.url`), detail, path }];
    }
    case 'file':
      return [parseOpenAiFile(parseFields(part.file, `${path}.file`), `${path}.file`, path)];
    default:
      throw unsupported(path, 'only text, images and files can be translated');
  }
}
