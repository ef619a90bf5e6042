import type { Tool, ToolChoice, ToolName } from '../conversation.ts';
import {
  type Fields,
  parseFields,
  parseList,
  parseOptionalFlag,
  parseOptionalText,
  parseText,
  unsupported,
  wrongField,
} from '../fields.ts';

export interface ChosenTools {
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
}

export function parseChatTools(value: unknown): Tool[] {
  return parseList(value ?? [], 'tools').map((entry, index) => {
    const path = `tools[${index}]`;
    const tool = parseFields(entry, path);
    if (tool.type === 'function') return parseFunction(tool, path);
    if (tool.type === 'custom') return parseCustom(tool, path);
    throw wrongField(`${path}.type`, 'function or custom');
  });
}

function parseFunction(tool: Fields, path: string): Tool {
  const place = `${path}.function`;
  const nested = parseFields(tool.function, place);
  return {
    kind: 'function',
    name: parseText(nested.name, `${place}.name`),
    description: parseOptionalText(nested.description, `${place}.description`),
    parameters: parseFields(nested.parameters ?? {}, `${place}.parameters`),
    strict: parseOptionalFlag(nested.strict, `${place}.strict`),
  };
}

function parseCustom(tool: Fields, path: string): Tool {
  const place = `${path}.custom`;
  const nested = parseFields(tool.custom, place);
  return {
    kind: 'custom',
    name: parseText(nested.name, `${place}.name`),
    description: parseOptionalText(nested.description, `${place}.description`),
    format: nested.format ?? undefined,
  };
}

/** The choice, and the tools that it leaves: a list of allowed tools removes all others. */
export function parseChatToolChoice(value: unknown, tools: readonly Tool[]): ChosenTools {
  if (value === undefined || value === null) return { tools };
  if (value === 'auto' || value === 'required' || value === 'none') {
    return { tools, toolChoice: { kind: value } };
  }
  const choice = parseFields(value, 'tool_choice');
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { tools, toolChoice: { kind: 'tool', tool: parseChosen(choice, 'tool_choice') } };
    case 'allowed_tools': {
      const path = 'tool_choice.allowed_tools';
      const allowed = parseFields(choice.allowed_tools, path);
      const names = new Set(
        parseList(allowed.tools, `${path}.tools`).map(
          (entry, index) =>
            parseChosen(parseFields(entry, `${path}.tools[${index}]`), `${path}.tools[${index}]`).name,
        ),
      );
      const kind = allowed.mode === 'required' ? 'required' : 'auto';
      return { tools: tools.filter((tool) => names.has(tool.name)), toolChoice: { kind } };
    }
    default:
      throw unsupported('tool_choice', 'this kind of choice cannot be translated');
  }
}

function parseChosen(choice: Fields, path: string): ToolName {
  const kind = choice.type === 'custom' ? 'custom' : 'function';
  const nested = parseFields(choice[kind], `${path}.${kind}`);
  return { kind, name: parseText(nested.name, `${path}.${kind}.name`) };
}
