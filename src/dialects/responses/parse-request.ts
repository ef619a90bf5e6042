import type { ConversationRequest, SystemTurn, Tool, ToolName } from '../conversation.ts';
import {
  type Dropped,
  type Fields,
  isFields,
  noteDropped,
  parseFields,
  parseList,
  parseOptionalCount,
  parseOptionalText,
  parseText,
  toFields,
  toList,
  unsupported,
} from '../fields.ts';
import {
  parseOpenAiFormat,
  parseOpenAiOptions,
  parseOpenAiTool,
  parseOpenAiToolChoice,
} from '../translation/openai-request.ts';
import { parseEffort, splitSystem } from '../translation/parse-common.ts';
import { parseItems } from './parse-items.ts';

/** A Responses request in the neutral form. */
export function parseResponsesRequest(body: Fields, dropped: Dropped): ConversationRequest {
  const items = toItems(body.input);
  const tools = parseResponsesTools(
    [...parseList(body.tools ?? [], 'tools'), ...loadedTools(items)],
    dropped,
  );
  const { system, turns } = splitSystem(parseItems(items, dropped));
  const text = body.text === undefined || body.text === null ? {} : parseFields(body.text, 'text');
  const reasoning = isFields(body.reasoning) ? body.reasoning : {};
  return {
    system: [...parseInstructions(body.instructions), ...system],
    turns,
    ...parseResponsesToolChoice(body.tool_choice, tools),
    maxOutputTokens: parseOptionalCount(body.max_output_tokens, 'max_output_tokens'),
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

// Tools that were added or found in the course of the conversation are as callable as the others.
function loadedTools(items: readonly unknown[]): readonly unknown[] {
  return items.flatMap((entry) => {
    const item = toFields(entry);
    const adds = item.type === 'additional_tools' || item.type === 'tool_search_output';
    return adds ? toList(item.tools) : [];
  });
}

function parseInstructions(value: unknown): SystemTurn[] {
  const text = parseOptionalText(value, 'instructions') ?? '';
  return text === '' ? [] : [{ role: 'system', isDeveloper: false, text }];
}

/**
 * Functions, custom tools, and those inside namespaces. Tools of every other kind run at OpenAI and are left out;
 * agents send them whether they need them or not.
 */
function parseResponsesTools(tools: readonly unknown[], dropped: Dropped): Tool[] {
  return tools.flatMap((entry, index) => {
    const path = `tools[${index}]`;
    return parseTool(parseFields(entry, path), path, undefined, dropped);
  });
}

function parseTool(tool: Fields, path: string, namespace: string | undefined, dropped: Dropped): Tool[] {
  switch (tool.type) {
    case 'function':
    case 'custom':
      return [parseOpenAiTool(tool.type, tool, path, namespace)];
    case 'namespace': {
      const name = parseText(tool.name, `${path}.name`);
      return parseList(tool.tools, `${path}.tools`).flatMap((nested, index) => {
        const place = `${path}.tools[${index}]`;
        return parseTool(parseFields(nested, place), place, name, dropped);
      });
    }
    default:
      noteDropped(dropped, `tools[type=${String(tool.type)}]`);
      return [];
  }
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
