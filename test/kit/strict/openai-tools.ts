import type { Format, Tool, ToolChoice } from './ask.ts';
import { flag, matching, type Owner, object, optional, required, text } from './fields.ts';
import { invalidField, type Path } from './refusal.ts';

const name = matching(/^[a-zA-Z0-9_-]{1,64}$/);

/** `{name, description?, parameters?, strict?}`, which Chat nests and Responses has at the top of a tool. */
export function parseFunction(owner: Owner): Tool {
  optional(owner, 'description', text);
  optional(owner, 'strict', flag);
  const parameters = optional(owner, 'parameters', object);
  const path = [...owner.path, 'parameters'];
  if (parameters !== undefined) checkParameters(parameters);
  const schema = parameters?.fields ?? { type: 'object', properties: {} };
  return { name: required(owner, 'name', name), input: { kind: 'schema', schema, path } };
}

function checkParameters({ fields, path }: Owner): void {
  const code = 'invalid_function_parameters';
  if (Object.keys(fields).length === 0) return;
  if (fields.type !== 'object') throw invalidField(path, 'the schema must have the type "object"', code);
  const hasShape = ['properties', '$ref', 'anyOf', 'allOf'].some((keyword) => fields[keyword] !== undefined);
  if (!hasShape) throw invalidField(path, 'a schema of the type "object" needs properties', code);
}

/** `{name, format?}`: undefined for a tool with a grammar, for which the sandbox can't generate input. */
export function parseCustomTool(owner: Owner): Tool | undefined {
  optional(owner, 'description', text);
  const toolName = required(owner, 'name', name);
  const format = optional(owner, 'format', object);
  if (format?.fields.type === 'grammar') return undefined;
  return { name: toolName, input: { kind: 'text' } };
}

/** `{name, schema, strict?}`, which Chat nests and Responses has at the top of a format. */
export function parseSchemaFormat(owner: Owner): Format {
  required(owner, 'name', name);
  optional(owner, 'strict', flag);
  const schema = required(owner, 'schema', object);
  return { kind: 'schema', schema: schema.fields, path: schema.path };
}

/** A choice given as one word; the three words are the same in both dialects. */
export function parseChoiceWord(value: string, path: Path): ToolChoice {
  if (value === 'none' || value === 'auto' || value === 'required') return { kind: value };
  throw invalidField(path, 'must be none, auto, required or an object');
}

/** Only the allowed tools stay, and the mode becomes the choice. */
export function allow(tools: readonly Tool[], allowed: readonly string[], mode: 'auto' | 'required') {
  const kept = tools.filter((tool) => allowed.includes(tool.name));
  return { tools: kept, toolChoice: { kind: mode } as ToolChoice };
}

/** A named choice must name a tool that was offered. */
export function chooseNamed(chosen: string, offered: readonly string[], path: Path): ToolChoice {
  if (offered.includes(chosen)) return { kind: 'named', name: chosen };
  throw invalidField(path, 'tools has no tool of this name');
}
