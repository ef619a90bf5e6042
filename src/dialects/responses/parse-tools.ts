import type { Tool, ToolChoice, ToolName } from '../conversation.ts';
import {
  type Dropped,
  type Fields,
  noteDropped,
  parseFields,
  parseList,
  parseOptionalFlag,
  parseOptionalText,
  parseText,
  unsupported,
} from '../fields.ts';

interface ChosenTools {
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
}

/**
 * Functions, custom tools, and those inside namespaces. Tools of every other kind run at OpenAI and are left out;
 * agents send them whether they need them or not.
 */
export function parseResponsesTools(tools: readonly unknown[], dropped: Dropped): Tool[] {
  return tools.flatMap((entry, index) => {
    const path = `tools[${index}]`;
    return parseTool(parseFields(entry, path), path, undefined, dropped);
  });
}

function parseTool(tool: Fields, path: string, namespace: string | undefined, dropped: Dropped): Tool[] {
  switch (tool.type) {
    case 'function':
    case 'custom':
      return [
        tool.type === 'function' ? parseFunction(tool, path, namespace) : parseCustom(tool, path, namespace),
      ];
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

function parseFunction(tool: Fields, path: string, namespace: string | undefined): Tool {
  return {
    kind: 'function',
    name: parseText(tool.name, `${path}.name`),
    namespace,
    description: parseOptionalText(tool.description, `${path}.description`),
    parameters: parseFields(tool.parameters ?? {}, `${path}.parameters`),
    strict: parseOptionalFlag(tool.strict, `${path}.strict`),
  };
}

function parseCustom(tool: Fields, path: string, namespace: string | undefined): Tool {
  return {
    kind: 'custom',
    name: parseText(tool.name, `${path}.name`),
    namespace,
    description: parseOptionalText(tool.description, `${path}.description`),
    format: tool.format ?? undefined,
  };
}

/** The choice, and the tools that it leaves: a list of allowed tools removes all others. */
export function parseResponsesToolChoice(value: unknown, tools: readonly Tool[]): ChosenTools {
  if (value === undefined || value === null) return { tools };
  if (value === 'required' && tools.length === 0) throw notHere();
  if (value === 'auto' || value === 'required' || value === 'none') {
    return { tools, toolChoice: { kind: value } };
  }
  const choice = parseFields(value, 'tool_choice');
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { tools, toolChoice: { kind: 'tool', tool: parseChosen(choice, 'tool_choice') } };
    case 'allowed_tools': {
      const names = new Set(
        parseList(choice.tools, 'tool_choice.tools').map(
          (entry, index) => parseFields(entry, `tool_choice.tools[${index}]`).name,
        ),
      );
      const kind = choice.mode === 'required' ? 'required' : 'auto';
      return { tools: tools.filter((tool) => names.has(tool.name)), toolChoice: { kind } };
    }
    default:
      throw notHere();
  }
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
