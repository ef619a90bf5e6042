import { type JsonDocument, kinds } from '../../json/json-document.ts';

/** A tool that a request offers or forces, by one of its names. */
export interface OfferedTool {
  readonly name: string;
  /** Where the name stands. */
  readonly entry: number;
}

const fields = ['tools', 'functions', 'tool_choice', 'function_call', 'mcp_servers'] as const;
const nameKeys = new Set(['name', 'server_label', 'server_name', 'mcp_server_name']);
// What says only how a tool is described, or whether tools may be called at all.
const plainTypes = new Set([
  'function',
  'custom',
  'namespace',
  'auto',
  'any',
  'none',
  'required',
  'tool',
  'allowed_tools',
  'url',
]);
// Below these stands the shape of a tool's input, whose names are no tools.
const shapes = new Set([
  'parameters',
  'input_schema',
  'output_schema',
  'schema',
  'format',
  'input_examples',
  'cache_control',
  'headers',
  'filters',
  'user_location',
]);

/** Every name and built-in type of the tools that a request offers or forces, in any dialect. */
export function findTools(document: JsonDocument): readonly OfferedTool[] {
  const found: OfferedTool[] = [];
  for (const field of fields) {
    const entry = document.member(document.root, field);
    if (entry !== undefined) collect(document, entry, found);
  }
  collectAdded(document, found);
  return found;
}

function collect(document: JsonDocument, entry: number, found: OfferedTool[]): void {
  switch (document.kind(entry)) {
    case kinds.string:
      return addUnlessPlain(document, entry, found);
    case kinds.array:
      for (let at = entry + 1; at < document.next(entry); at = document.next(at))
        collect(document, at, found);
      return;
    case kinds.object:
      return collectObject(document, entry, found);
    default:
  }
}

function collectObject(document: JsonDocument, entry: number, found: OfferedTool[]): void {
  for (let key = entry + 1; key < document.next(entry); key = document.next(key + 1)) {
    const value = key + 1;
    const name = document.text(key);
    const kind = document.kind(value);
    if (kind === kinds.string && name === 'type') addUnlessPlain(document, value, found);
    else if (kind === kinds.string && nameKeys.has(name)) add(document, value, found);
    // Lists of names are how some hosts allow single tools of a server.
    else if (kind === kinds.array && name.endsWith('tools')) collect(document, value, found);
    else if (kind === kinds.object && !shapes.has(name)) collectObject(document, value, found);
    else if (kind === kinds.array && !shapes.has(name)) collectObjects(document, value, found);
  }
}

function collectObjects(document: JsonDocument, array: number, found: OfferedTool[]): void {
  for (let at = array + 1; at < document.next(array); at = document.next(at)) {
    if (document.kind(at) === kinds.object) collectObject(document, at, found);
  }
}

/** Codex adds tools in the middle of a conversation, as items of the input. */
function collectAdded(document: JsonDocument, found: OfferedTool[]): void {
  const input = document.member(document.root, 'input');
  if (input === undefined || document.kind(input) !== kinds.array) return;
  for (let item = input + 1; item < document.next(input); item = document.next(item)) {
    const tools = document.member(item, 'tools');
    if (tools !== undefined) collect(document, tools, found);
  }
}

function addUnlessPlain(document: JsonDocument, entry: number, found: OfferedTool[]): void {
  if (!plainTypes.has(document.text(entry))) add(document, entry, found);
}

function add(document: JsonDocument, entry: number, found: OfferedTool[]): void {
  found.push({ name: document.text(entry), entry });
}
