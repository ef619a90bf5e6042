import { createHash } from 'node:crypto';
import type { HostTraits } from '../../hosts/traits.ts';
import type { Tool, ToolCall, ToolName } from '../conversation.ts';
import { type Fields, isFields, parseJson, toFields, toText } from '../fields.ts';
import { paragraphs } from './media.ts';
import { toArgumentsSchema } from './schemas.ts';

const nameLimit = 64;
const separator = '__';

/** Tools by their names at the provider. */
export type WireNames = ReadonlyMap<string, ToolName>;

export type ToolNames = ReturnType<typeof createToolNames>;

/**
 * Flattens namespaces and shortens names to what every provider takes (64 of `a-zA-Z0-9_-`), reversibly.
 * The short form depends on the name alone, so prompts stay the same from turn to turn.
 */
export function createToolNames(known: WireNames = new Map()) {
  const originals = new Map(known);

  function toWire(tool: ToolName): string {
    const flat = tool.namespace === undefined ? tool.name : `${tool.namespace}${separator}${tool.name}`;
    const plain = toAllowed(flat);
    const wireName = plain === flat && isFree(plain, tool) ? plain : shortName(plain, tool);
    if (!originals.has(wireName)) {
      originals.set(wireName, { name: tool.name, namespace: tool.namespace, kind: tool.kind });
    }
    return wireName;
  }

  function isFree(wireName: string, tool: ToolName): boolean {
    const taken = originals.get(wireName);
    return taken === undefined || (taken.name === tool.name && taken.namespace === tool.namespace);
  }

  return {
    /** The tool's name at the provider; the first tool that gets a name keeps it. */
    toWire,
    /** What the client calls the tool of this wire name; an unknown name is a function of that name. */
    fromWire: (wireName: string): ToolName => originals.get(wireName) ?? { name: wireName, kind: 'function' },
    /** Those that `fromWire` would not know without having seen them. */
    renamed: (): WireNames =>
      new Map(
        [...originals].filter(([wireName, { name, kind }]) => name !== wireName || kind !== 'function'),
      ),
  };
}

/** Gemini's names begin with a letter or `_` (void#961, seclab-taskflow-agent#287, 2026-07). */
function toAllowed(name: string): string {
  const allowed = name.replace(/[^a-zA-Z0-9_-]/g, '_');
  return (/^[0-9-]/.test(allowed) ? `_${allowed}` : allowed).slice(0, nameLimit);
}

function shortName(name: string, tool: ToolName): string {
  const whole = `${tool.namespace ?? ''}\n${tool.name}`;
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `${name.slice(0, nameLimit - digest.length - 1)}_${digest}`;
}

/** Anthropic accepts only these characters in a call's id; others are written as hex, so that ids stay distinct. */
export function toCallId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, (character) => character.charCodeAt(0).toString(16));
}

/** The id as a host takes it; the same id always becomes the same. */
export function toHostCallId(id: string, { callIds }: Pick<HostTraits, 'callIds'>): string {
  if (callIds === 'any' || /^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}

type FunctionTool = Pick<Tool, 'description' | 'strict'> & { readonly parameters: Record<string, unknown> };

/**
 * The tool as a function, for dialects that know no other kind: a custom tool becomes one with a single
 * string parameter `input`. Schemas always get `properties`, without which some hosts refuse them.
 */
export function toFunctionTool(tool: Tool): FunctionTool {
  if (tool.kind === 'function') {
    const parameters = { type: 'object', properties: {}, ...toArgumentsSchema(tool.parameters ?? {}) };
    return { description: tool.description, strict: tool.strict, parameters };
  }
  return {
    description: paragraphs([tool.description ?? '', describeFormat(tool.format)]),
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

/**
 * The call's arguments as the text of a JSON object, custom ones wrapped. Templates of many hosts parse those of earlier
 * calls, and refuse the conversation for one that a limit has cut (vllm-project/vllm#48922, OpenHands/software-agent-sdk#2887).
 */
export function toFunctionArguments(call: ToolCall): string {
  if (call.kind === 'custom') return JSON.stringify({ input: call.input });
  return isFields(parseJson(call.input)) ? call.input : JSON.stringify(toArgumentsObject(call));
}

/** The same as an object; text that is none is kept under `raw_arguments`, because the tool has failed with it. */
export function toArgumentsObject({ kind, input }: Pick<ToolCall, 'kind' | 'input'>): Fields {
  if (kind === 'custom') return { input };
  if (input.trim() === '') return {};
  const value = parseJson(input);
  return isFields(value) ? value : { raw_arguments: input };
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
