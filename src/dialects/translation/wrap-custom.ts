import type { Tool, ToolCall } from '../conversation.ts';
import { isFields, toFields, toText } from '../fields.ts';

type FunctionTool = Pick<Tool, 'description' | 'strict'> & { readonly parameters: Record<string, unknown> };

/**
 * The tool as a function, for dialects that know no other kind: a custom tool becomes one with a single
 * string parameter `input`. Schemas always get `properties`, without which some hosts refuse them.
 */
export function toFunctionTool(tool: Tool): FunctionTool {
  if (tool.kind === 'function') {
    const parameters = { type: 'object', properties: {}, ...tool.parameters };
    return { description: tool.description, strict: tool.strict, parameters };
  }
  return {
    description: [tool.description ?? '', describeFormat(tool.format)]
      .filter((text) => text !== '')
      .join('\n\n'),
    strict: undefined,
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'the whole input of the tool, as plain text' } },
      required: ['input'],
      additionalProperties: false,
    },
  };
}

// A function's schema can't enforce the grammar, so it becomes part of the description. The two dialects nest it differently.
function describeFormat(value: unknown): string {
  const format = toFields(value);
  if (format.type !== 'grammar') return '';
  const grammar = isFields(format.grammar) ? format.grammar : format;
  return `The input must follow this ${toText(grammar.syntax)} grammar:\n${toText(grammar.definition)}`;
}

/** The call's arguments as JSON text, custom ones wrapped. */
export function toFunctionArguments(call: ToolCall): string {
  if (call.kind === 'custom') return JSON.stringify({ input: call.input });
  return call.input === '' ? '{}' : call.input;
}

/** The plain text inside wrapped arguments; anything else that a model wrote is passed on unchanged. */
export function unwrapInput(wrapped: string): string {
  try {
    const value: unknown = JSON.parse(wrapped);
    return isFields(value) && typeof value.input === 'string' ? value.input : wrapped;
  } catch {
    // Not JSON: the model ignored the wrapping and wrote the input itself.
    return wrapped;
  }
}
