import { isDeepStrictEqual } from 'node:util';
import {
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parse,
  parseDocument,
  type YAMLMap,
} from 'yaml';

// Both edit the text, because serializing the document would reformat it, and parse the result again: unless it says
// exactly what was meant, no text is returned.

export type YamlPath = readonly (string | number)[];

/**
 * The text with one more entry, given as YAML on one line, at the end of a list; the list and the groups around it are made
 * where they are missing. A text that is JSON stays JSON.
 */
export function appendEntry(text: string, listPath: YamlPath, entry: string): string | undefined {
  const added = isJson(text) ? JSON.stringify(parse(entry)) : entry;
  return checked(text, () => insert(text, listPath, added), {
    path: listPath,
    change: (list) => [...(Array.isArray(list) ? list : []), parse(entry)],
  });
}

/** The text with another value in the place of a scalar. */
export function replaceScalar(text: string, path: YamlPath, value: string): string | undefined {
  const node: unknown = parseDocument(text).getIn(path, true);
  if (!isScalar(node)) return undefined;
  const [start, end] = rangeOf(node);
  const edit = () => `${text.slice(0, start)}${JSON.stringify(value)}${text.slice(end)}`;
  return checked(text, edit, { path, change: () => value });
}

interface Meant {
  readonly path: YamlPath;
  readonly change: (before: unknown) => unknown;
}

function checked(text: string, edit: () => string | undefined, meant: Meant): string | undefined {
  try {
    const edited = edit();
    if (edited === undefined) return undefined;
    const result = parseDocument(edited);
    const wanted = changedAt(parseDocument(text).toJS() ?? {}, meant);
    return result.errors.length === 0 && isDeepStrictEqual(result.toJS(), wanted) ? edited : undefined;
  } catch {
    return undefined; // an alias or an anchor where one entry was meant
  }
}

function changedAt(value: unknown, { path, change }: Meant): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return change(value);
  const inner = (held: unknown) => changedAt(held, { path: rest, change });
  if (Array.isArray(value)) return value.map((each, i) => (i === first ? inner(each) : each));
  const group = (value ?? {}) as Readonly<Record<string, unknown>>; // as the walk below finds it
  return { ...group, [first]: inner(group[first]) };
}

function insert(text: string, listPath: YamlPath, entry: string): string | undefined {
  const document = parseDocument(text);
  if (document.errors.length > 0) return undefined;
  let node: unknown = document.contents;
  let depth = 0;
  while (depth < listPath.length && isCollection(node)) {
    const step = listPath[depth];
    const next = isMap(node) ? pairOf(node, step)?.value : node.items[Number(step)];
    if (!isCollection(next)) break;
    node = next;
    depth += 1;
  }
  const missing = listPath.slice(depth).map(String);
  if (missing.length === 0) return isSeq<Node>(node) ? appendToList(text, node, entry) : undefined;
  if (document.contents === null) return atEnd(text, blockLines(missing, entry, 0));
  if (!isMap(node)) return undefined;
  if (node.flow === true)
    return intoFlow(text, node, flowPairs(missing, entry, isJson(text) ? JSON.stringify : keyText));
  // `shop:` with nothing behind it: the lines go below.
  const empty = pairOf(node, missing[0]);
  if (empty !== undefined) {
    if (!isScalar(empty.value ?? undefined) && empty.value !== null) return undefined;
    const [start, end] = rangeOf(empty.key as Node);
    return afterLine(text, end, blockLines(missing.slice(1), entry, columnOf(text, start) + 2));
  }
  const lines = blockLines(missing, entry, columnOf(text, rangeOf(node.items[0]?.key as Node)[0]));
  return depth === 0 ? atEnd(text, lines) : afterLine(text, endOf(node), lines);
}

function appendToList(
  text: string,
  list: { readonly items: readonly Node[]; flow?: boolean } & Node,
  entry: string,
) {
  if (list.flow === true) return intoFlow(text, list, entry);
  const last = list.items.at(-1);
  if (last === undefined) return undefined;
  const dash = text.lastIndexOf('-', rangeOf(last)[0] - 1);
  return afterLine(text, endOf(list), [`${' '.repeat(columnOf(text, dash))}- ${entry}`]);
}

/** Before the closing bracket of `[…]` or `{…}`, behind what is there. */
function intoFlow(
  text: string,
  collection: Node & { readonly items: readonly unknown[] },
  added: string,
): string {
  const [start, end] = rangeOf(collection);
  if (collection.items.length > 0) {
    const at = endOfLast(collection);
    return `${text.slice(0, at)}, ${added}${text.slice(at)}`;
  }
  const isList = text[start] === '[';
  return `${text.slice(0, start)}${isList ? `[${added}]` : `{ ${added} }`}${text.slice(end)}`;
}

function flowPairs(
  [first = '', ...rest]: readonly string[],
  entry: string,
  write: (name: string) => string,
): string {
  const value = rest.length === 0 ? `[${entry}]` : `{ ${flowPairs(rest, entry, write)} }`;
  return `${write(first)}: ${value}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function blockLines(names: readonly string[], entry: string, indent: number): readonly string[] {
  const groups = names.map((name, i) => `${' '.repeat(indent + 2 * i)}${keyText(name)}:`);
  return [...groups, `${' '.repeat(indent + 2 * names.length)}- ${entry}`];
}

/** In quotes where it would otherwise be a number or the like. */
function keyText(name: string): string {
  return parse(`${name}: 0`)?.[name] === 0 && parse(name) === name ? name : JSON.stringify(name);
}

function afterLine(text: string, offset: number, lines: readonly string[]): string {
  const newline = text[offset - 1] === '\n' ? offset - 1 : text.indexOf('\n', offset);
  if (newline < 0) return atEnd(text, lines);
  return text.slice(0, newline + 1) + joined(text, lines) + text.slice(newline + 1);
}

function atEnd(text: string, lines: readonly string[]): string {
  const isClosed = text === '' || text.endsWith('\n');
  return `${text}${isClosed ? '' : lineEnd(text)}${joined(text, lines)}`;
}

function joined(text: string, lines: readonly string[]): string {
  return lines.map((line) => line + lineEnd(text)).join('');
}

function lineEnd(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function pairOf(map: YAMLMap, name: string | number | undefined): Pair | undefined {
  return map.items.find(({ key }) => isScalar(key) && String(key.value) === String(name));
}

/** Where a node ends, before the comments and blank lines behind it. */
function endOf(node: Node): number {
  return isCollection(node) && node.flow !== true && node.items.length > 0
    ? endOfLast(node)
    : rangeOf(node)[1];
}

function endOfLast({ items }: { readonly items: readonly unknown[] }): number {
  const last = items.at(-1);
  if (!isPair(last)) return endOf(last as Node);
  const { key, value } = last as Pair<Node, Node | null>;
  const isEmpty = value === null || (isScalar(value) && value.value === null && (value.source ?? '') === '');
  return isEmpty ? rangeOf(key)[1] + 1 : endOf(value);
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

function rangeOf(node: Node | undefined): readonly [start: number, end: number] {
  const [start = 0, end = 0] = node?.range ?? [];
  return [start, end];
}
