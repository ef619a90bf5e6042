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
  type Dropped,
  type Fields,
  isFields,
  noteDropped,
  parseCap,
  parseEach,
  parseFields,
  parseList,
  parseOptionalText,
  parseText,
  toFields,
  toList,
  toText,
  unsupported,
  wrongField,
} from '../fields.ts';
import { joinTexts, keptElsewhere, parseMediaUrl, textParts } from '../translation/media.ts';
import {
  parseOpenAiFile,
  parseOpenAiFormat,
  parseOpenAiOptions,
  parseOpenAiTool,
  parseOpenAiToolChoice,
} from '../translation/openai-request.ts';
import { parseEffort, splitSystem, systemTurns } from '../translation/parse-common.ts';
import { isOurSeal, parseSeal } from '../translation/seals.ts';
import { toReasoningText } from './answer.ts';

/** A Responses request in the neutral form. */
export function parseResponsesRequest(body: Fields, dropped: Dropped): ConversationRequest {
  const items = toItems(body.input);
  const tools = withoutRepeats(
    parseTools([...parseList(body.tools ?? [], 'tools'), ...loadedTools(items)], 'tools', dropped),
  );
  const { system, turns } = splitSystem(
    parseEach(items, 'input', (item, path) => parseItem(item, path, dropped)).flat(),
  );
  const text = body.text === undefined || body.text === null ? {} : parseFields(body.text, 'text');
  const reasoning = isFields(body.reasoning) ? body.reasoning : {};
  return {
    system: [...systemTurns(parseOptionalText(body.instructions, 'instructions') ?? ''), ...system],
    turns,
    ...parseResponsesToolChoice(body.tool_choice, tools),
    maxOutputTokens: parseCap(body.max_output_tokens, 'max_output_tokens'),
    stop: [],
    effort: parseEffort(reasoning.effort, 'reasoning.effort'),
    format: parseOpenAiFormat(text.format, 'text.format', (format) => [format, 'text.format']),
    verbosity: parseOptionalText(text.verbosity, 'text.verbosity'),
    ...parseOpenAiOptions(body),
  };
}

function toItems(input: unknown): readonly unknown[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  return parseList(input, 'input');
}

/** A tool may be found more than once, which other hosts refuse. */
function withoutRepeats(tools: readonly Tool[]): readonly Tool[] {
  const byName = new Map(tools.map((tool) => [`${tool.namespace ?? ''}\n${tool.name}`, tool]));
  return byName.size === tools.length ? tools : [...byName.values()];
}

// Tools that were added or found in the course of the conversation are as callable as the others.
function loadedTools(items: readonly unknown[]): readonly unknown[] {
  return items.flatMap((entry) => {
    const item = toFields(entry);
    const adds = item.type === 'additional_tools' || item.type === 'tool_search_output';
    return adds ? toList(item.tools) : [];
  });
}

/**
 * Functions, custom tools, and those inside namespaces. Tools of every other kind run at OpenAI and are left out;
 * agents send them whether they need them or not.
 */
function parseTools(tools: unknown, place: string, dropped: Dropped, namespace?: string): Tool[] {
  const parseTool = (tool: Fields, path: string): Tool[] => {
    switch (tool.type) {
      case 'function':
      case 'custom':
        return [parseOpenAiTool(tool.type, tool, path, namespace)];
      case 'namespace':
        return parseTools(tool.tools, `${path}.tools`, dropped, parseText(tool.name, `${path}.name`));
      default:
        noteDropped(dropped, `tools[type=${String(tool.type)}]`);
        return [];
    }
  };
  return parseEach(tools, place, parseTool).flat();
}

/** The choice, and the tools that it leaves. */
function parseResponsesToolChoice(value: unknown, tools: readonly Tool[]) {
  if (value === 'required' && tools.length === 0) throw notHere();
  return parseOpenAiToolChoice(value, tools, {
    chosen: parseChosen,
    allowed: (choice) => [choice, 'tool_choice'],
    nameOf: ({ name }) => name,
    unknown: notHere,
  });
}

function notHere(): Error {
  return unsupported('tool_choice', 'this model cannot run the tools that the choice asks for');
}

function parseChosen(choice: Fields, path: string): ToolName {
  return {
    kind: choice.type === 'custom' ? 'custom' : 'function',
    name: parseText(choice.name, `${path}.name`),
    namespace: parseOptionalText(choice.namespace, `${path}.namespace`),
  };
}

function parseItem(item: Fields, path: string, dropped: Dropped): Turn[] {
  const type = item.type ?? 'message';
  switch (type) {
    case 'message':
      return [parseMessage(item, path)];
    case 'function_call':
    case 'custom_tool_call':
      return [{ role: 'assistant', parts: [{ kind: 'call', call: parseCall(item, path) }] }];
    case 'reasoning': {
      const thought = parseThought(item);
      if (thought === undefined) noteDropped(dropped, 'input[type=reasoning]');
      return thought === undefined ? [] : [{ role: 'assistant', parts: [thought] }];
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [parseOutput(item, path)];
    case 'item_reference':
      throw unsupported(
        path,
        'items kept at another provider cannot be translated; send them whole (AI SDK: store: false, or openai.chat())',
      );
    case 'compaction':
    case 'compaction_trigger':
      throw unsupported(path, 'a history that another provider has compacted cannot be translated');
    default:
      // Tools that the provider ran itself, or its own settings.
      noteDropped(dropped, `input[type=${toText(type)}]`);
      return [];
  }
}

/** Undefined for reasoning that another vendor has encrypted, and for none. */
function parseThought(item: Fields): Thought | undefined {
  const encrypted = toText(item.encrypted_content);
  const seal = parseSeal(encrypted);
  const text = toReasoningText(item);
  if (encrypted !== '' && !isOurSeal(encrypted)) return undefined;
  if (seal === undefined && text === '') return undefined;
  return { kind: 'thinking', text, seal };
}

function parseMessage(item: Fields, path: string): Turn {
  const { role } = item;
  const place = `${path}.content`;
  const parts = parseContent(item.content, place);
  switch (role) {
    case 'user':
      return { role, parts };
    case 'assistant':
      return { role, parts: textPart('text', plainText(parts, place, '')) };
    case 'system':
    case 'developer':
      return { role: 'system', isDeveloper: role === 'developer', text: plainText(parts, place, '\n\n') };
    default:
      throw wrongField(`${path}.role`, 'user, assistant, system or developer');
  }
}

function plainText(parts: readonly ContentPart[], path: string, separator: string): string {
  if (parts.some((part) => part.kind !== 'text')) {
    throw unsupported(path, 'only user messages can hold images and files');
  }
  return joinTexts(parts, separator);
}

function parseCall(item: Fields, path: string): ToolCall {
  const isCustom = item.type === 'custom_tool_call';
  const key = isCustom ? 'input' : 'arguments';
  return {
    kind: isCustom ? 'custom' : 'function',
    id: parseText(item.call_id, `${path}.call_id`),
    name: parseText(item.name, `${path}.name`),
    namespace: parseOptionalText(item.namespace, `${path}.namespace`),
    input: parseOptionalText(item[key], `${path}.${key}`) ?? '',
  };
}

function parseOutput(item: Fields, path: string): Turn {
  const callId = parseText(item.call_id, `${path}.call_id`);
  const parts = parseContent(item.output ?? '', `${path}.output`);
  return { role: 'results', results: [{ callId, parts, isError: false, path }] };
}

/** The content of a message item or of a call's output. */
function parseContent(content: unknown, path: string): ContentPart[] {
  return typeof content === 'string' ? textParts(content) : parseEach(content, path, parsePart).flat();
}

function parsePart(part: Fields, path: string): ContentPart[] {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return textParts(parseText(part.text, `${path}.text`));
    case 'refusal':
      return textParts(parseText(part.refusal, `${path}.refusal`));
    case 'input_image':
      return [parseImage(part, path)];
    case 'input_file':
      return [parseFile(part, path)];
    default:
      throw unsupported(path, 'only text, images and files can be translated');
  }
}

function parseImage(part: Fields, path: string): ContentPart {
  const url = parseOptionalText(part.image_url, `${path}.image_url`);
  if (url === undefined) throw keptElsewhere(path);
  const detail = parseOptionalText(part.detail, `${path}.detail`);
  return { kind: 'image', source: parseMediaUrl(url, `${path}.image_url`), detail, path };
}

function parseFile(part: Fields, path: string): ContentPart {
  const url = parseOptionalText(part.file_url, `${path}.file_url`);
  if (url === undefined) return parseOpenAiFile(part, path, path);
  const name = parseOptionalText(part.filename, `${path}.filename`);
  return { kind: 'document', source: parseMediaUrl(url, `${path}.file_url`), name, path };
}
