import { list, nonEmptyText, type Owner, object, oneOf, optional, required, text } from './fields.ts';
import { invalidField, type Path } from './refusal.ts';

export interface ResponsesInput {
  readonly userText: string;
  readonly toolResults: readonly string[];
}

type Item = { readonly path: Path } & (
  | { readonly kind: 'user'; readonly text: string | undefined }
  | { readonly kind: 'model' }
  | { readonly kind: 'call'; readonly id: string }
  | { readonly kind: 'output'; readonly id: string; readonly text: string }
  | { readonly kind: 'other' }
);

const userParts = ['input_text', 'input_image', 'input_file', 'input_audio'] as const;
const assistantParts = ['output_text', 'refusal'] as const;
const outputParts = ['input_text', 'input_image', 'input_file'] as const;
// Items of hosted tools and of the host's own state: accepted without a check.
const otherItems =
  /^(?:\w+_call|\w+_call_output|mcp_\w+|tool_search_\w+|compaction\w*|configuration_update|additional_tools)$/;

/** Parses `input`: a string, or items in which calls and outputs must match. */
export function parseInput(body: Owner): ResponsesInput {
  return required(body, 'input', (value, path) => {
    if (typeof value === 'string') return { userText: value, toolResults: [] };
    if (!Array.isArray(value))
      throw invalidField(path, 'must be a string or an array of items', 'invalid_type');
    const items = list(parseItem)(value, path);
    checkCalls(items);
    const spoke = items.findLastIndex(({ kind }) => kind === 'model' || kind === 'call');
    return {
      userText: items.findLast((item) => item.kind === 'user')?.text ?? '',
      toolResults: items.slice(spoke + 1).flatMap((item) => (item.kind === 'output' ? [item.text] : [])),
    };
  });
}

function parseItem(value: unknown, path: Path): Item {
  const item = object(value, path);
  const type = optional(item, 'type', text) ?? 'message';
  switch (type) {
    case 'message':
      return parseMessage(item);
    case 'function_call':
      checkId(item, 'fc');
      required(item, 'name', nonEmptyText);
      required(item, 'arguments', text);
      return { kind: 'call', id: required(item, 'call_id', nonEmptyText), path };
    case 'custom_tool_call':
      required(item, 'name', nonEmptyText);
      required(item, 'input', text);
      return { kind: 'call', id: required(item, 'call_id', nonEmptyText), path };
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const id = required(item, 'call_id', nonEmptyText);
      return { kind: 'output', id, text: required(item, 'output', parseOutput), path };
    }
    case 'reasoning':
      checkId(item, 'rs');
      required(item, 'summary', list(object));
      return { kind: 'other', path };
    case 'item_reference':
      throw invalidField([...path, 'id'], 'the sandbox keeps no items; send them whole');
    default:
      if (!otherItems.test(type)) throw invalidField([...path, 'type'], 'this is no type of item');
      return { kind: 'other', path };
  }
}

function parseMessage(item: Owner): Item {
  const { path } = item;
  const role = required(item, 'role', oneOf(['user', 'assistant', 'system', 'developer']));
  const isAssistant = role === 'assistant';
  if (isAssistant) checkId(item, 'msg');
  const types: readonly string[] = isAssistant ? assistantParts : userParts;
  const words = required(item, 'content', (value, place) => parseParts(value, place, types)).at(-1);
  if (isAssistant) return { kind: 'model', path };
  return role === 'user' ? { kind: 'user', text: words, path } : { kind: 'other', path };
}

function parseParts(value: unknown, path: Path, types: readonly string[]): readonly string[] {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value))
    throw invalidField(path, 'must be a string or an array of parts', 'invalid_type');
  return list((part, place) => parsePart(object(part, place), types))(value, path).flat();
}

function parsePart(part: Owner, types: readonly string[]): readonly string[] {
  const type = required(part, 'type', oneOf(types));
  if (type === 'refusal') return [required(part, 'refusal', text)];
  if (type === 'input_text' || type === 'output_text') return [required(part, 'text', text)];
  // A plain string here; Chat has an object.
  if (type === 'input_image') optional(part, 'image_url', text);
  return [];
}

function parseOutput(value: unknown, path: Path): string {
  return parseParts(value, path, outputParts).join(' ');
}

function checkId(item: Owner, prefix: string): void {
  const id = optional(item, 'id', text);
  if (id === undefined || id.startsWith(prefix)) return;
  throw invalidField([...item.path, 'id'], `an id of this item begins with ${prefix}`);
}

function checkCalls(items: readonly Item[]): void {
  const open = new Map<string, Path>();
  for (const item of items) {
    if (item.kind === 'call') open.set(item.id, item.path);
    if (item.kind !== 'output' || open.delete(item.id)) continue;
    throw invalidField([...item.path, 'call_id'], 'there is no unanswered call with this call_id before it');
  }
  for (const [, path] of open) throw invalidField(path, 'this call has no output');
}
