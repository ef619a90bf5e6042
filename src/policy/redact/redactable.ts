import { type JsonDocument, kinds } from '../../json/json-document.ts';
import type { Place } from '../traverse/place.ts';

// Ids and labels that other parts of a request or the provider refer to.
const fixedNames = new Set([
  'type',
  'role',
  'model',
  'id',
  'name',
  'status',
  'media_type',
  'mime_type',
  'mimeType',
  'thoughtSignature',
  'thought_signature',
  'data',
  'phase',
  'format',
  'detail',
  'namespace',
  'enum',
  'required',
  'encrypted_content',
]);
const definitionFields = new Set([
  ...['tools', 'functions', 'tool_choice', 'function_call', 'mcp_servers', 'toolConfig', 'tool_config'],
]);
const schemaFields = new Set([
  ...['response_format', 'output_config', 'text', 'generationConfig', 'generation_config'],
]);

/** What the containers around a text say about it. */
interface Surroundings {
  readonly isSigned: boolean;
  /** Whether they are the input of a call, whose names are the tool's own. */
  readonly isCallInput: boolean;
  /** The outermost and the innermost key on the way; undefined if there are lists only. */
  readonly top: string | undefined;
  readonly last: string | undefined;
}

/**
 * Decides for the texts of a document, and of documents inside those, whether they may be changed without breaking the
 * request or what the provider has signed. Each container is checked once: a list may have a match in each of
 * tens of thousands of texts, and going through it again for each would take seconds.
 */
export function createRedactable(root: JsonDocument): (place: Place) => boolean {
  let parents: Int32Array | undefined;
  const known = new Map<number, Surroundings>();
  /** By entry of the root: 0 if not determined yet. A text may be part of several matches. */
  let answers: Uint8Array | undefined;
  return isRedactable;

  function isRedactable({ document, entry, outer, isDecoded }: Place): boolean {
    if (isDecoded === true) return false;
    if (document.kind(entry) !== kinds.string) return false;
    if (outer !== undefined) return !document.isKey(entry) && isRedactable(outer);
    answers ??= new Uint8Array(root.count);
    if (answers[entry] === 0) answers[entry] = mayChange(entry) ? yes : no;
    return answers[entry] === yes;
  }

  function mayChange(entry: number): boolean {
    parents ??= parentsOf(root);
    const container = parents[entry] as number;
    const { isSigned, isCallInput, top, last } = inside(container, entry, parents);
    if (isSigned || top === undefined || last === undefined) return false;
    if (isCallInput) return true;
    if (root.isKey(entry)) return false;
    if (last === 'data' && isPlainText(root, container)) return true;
    // A string there is no schema.
    const isSchema = schemaFields.has(top) && container !== root.root;
    if (isSchema || definitionFields.has(top)) return last === 'description';
    return !fixedNames.has(last) && !last.endsWith('_id');
  }

  /** The surroundings of a container's members. */
  function inside(container: number, entry: number, above: Int32Array): Surroundings {
    const around = surroundings(container, above);
    if (root.kind(container) !== kinds.object || root.isKey(entry)) return around;
    const name = root.text(entry - 1);
    const isCallInput = around.isCallInput || isInputOf(root, container, name);
    return { isSigned: around.isSigned, isCallInput, top: around.top ?? name, last: name };
  }

  function surroundings(container: number, above: Int32Array): Surroundings {
    const before = known.get(container);
    if (before !== undefined) return before;
    const outside =
      container === root.root ? unsurrounded : inside(above[container] as number, container, above);
    const isSame = outside.isSigned || !isSigned(root, container);
    const found = isSame ? outside : { ...outside, isSigned: true };
    known.set(container, found);
    return found;
  }
}

const yes = 1;
const no = 2;
const unsurrounded: Surroundings = { isSigned: false, isCallInput: false, top: undefined, last: undefined };

/** The container of each entry. */
function parentsOf(document: JsonDocument): Int32Array {
  const parents = new Int32Array(document.count);
  let container: number = document.root;
  for (let entry = 1; entry < document.count; entry += 1) {
    while (document.next(container) <= entry) container = parents[container] as number;
    parents[entry] = container;
    if (document.kind(entry) <= kinds.array) container = entry;
  }
  return parents;
}

/** A plain text document's `data` is what its model reads; other data is encoded. */
function isPlainText(document: JsonDocument, container: number): boolean {
  return document.kind(container) === kinds.object && document.memberText(container, 'type') === 'text';
}

/** A provider refuses thinking that it has signed if a single letter differs. */
function isSigned(document: JsonDocument, container: number): boolean {
  if (document.kind(container) !== kinds.object) return false;
  if (document.member(container, 'signature') !== undefined) return true;
  const type = document.memberText(container, 'type');
  // Its summary is not what the provider checks, and clients may leave it out.
  if (type === 'reasoning') return false;
  if (document.member(container, 'encrypted_content') !== undefined) return true;
  return type === 'thinking' || type === 'redacted_thinking';
}

/** The input of a call, or the response of its function, if it is an object; in other dialects it is a text. */
function isInputOf(document: JsonDocument, container: number, name: string): boolean {
  if (name === 'input') return document.memberText(container, 'type')?.endsWith('tool_use') === true;
  if (name !== 'args' && name !== 'response') return false;
  const isObject = document.kind(document.member(container, name) ?? container) === kinds.object;
  return isObject && document.memberText(container, 'name') !== undefined;
}
