import { isDeepStrictEqual } from 'node:util';
import { isCollection, isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml';
import type { YamlPath } from './edit-yaml.ts';

/** The lines of a list's entry in a file, counted from 1. */
export interface EntryLines {
  readonly first: number;
  readonly last: number;
}

export interface Removal {
  readonly lines: EntryLines;
  /** The file without the entry, every other byte as it was; absent if the entry can't be removed alone. */
  readonly text?: string;
}

/**
 * Removes an entry of a list from YAML by cutting its text, because serializing the document would reformat it. The
 * result is parsed again: unless it equals the original minus the entry, no text is returned.
 */
export function removeEntry(text: string, listPath: YamlPath, index: number): Removal | undefined {
  const list: unknown = parseDocument(text).getIn(listPath, true);
  if (!isSeq<Node>(list)) return undefined;
  const [start, end] = list.items[index]?.range ?? [];
  if (start === undefined || end === undefined) return undefined;
  const lines = { first: lineAt(text, start), last: lineAt(text, Math.max(start, end - 1)) };
  const cut =
    list.flow === true ? cutFromFlow(text, list.items, index) : cutFromBlock(text, list.items, index);
  return saysTheSame(text, cut, [...listPath, index]) ? { lines, text: cut } : { lines };
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/**
 * Removes a list itself, with its name and the comma before or after it, from a group in braces; from one of lines, the
 * lines. Undefined if that can't be done alone.
 */
export function removeMember(text: string, path: YamlPath): string | undefined {
  const group: unknown = parseDocument(text).getIn(path.slice(0, -1), true);
  const name = path.at(-1);
  if (!isMap<Node, Node | null>(group)) return undefined;
  const index = group.items.findIndex(({ key }) => isScalar(key) && key.value === name);
  const member = group.items[index];
  if (member === undefined) return undefined;
  const [start, end] = [rangeOf(member.key)[0], rangeOf(member.value ?? member.key)[1]];
  const spans = group.items.map(({ key }) => rangeOf(key));
  let cut: string;
  if (group.flow === true) {
    const [before, next] = [group.items[index - 1], spans[index + 1]];
    if (before !== undefined) cut = text.slice(0, rangeOf(before.value ?? before.key)[1]) + text.slice(end);
    else cut = text.slice(0, start) + text.slice(next === undefined ? end : next[0]);
  } else {
    const newline = text.indexOf('\n', lineEndFrom(member.value, end));
    // The first member stands behind a dash.
    if (index === 0) return undefined;
    cut =
      text.slice(0, text.lastIndexOf('\n', start) + 1) + text.slice(newline < 0 ? text.length : newline + 1);
  }
  return saysTheSame(text, cut, path) ? cut : undefined;
}

/** For `[a, b]`: cuts the entry and the comma after it, or before it if it is the last. */
function cutFromFlow(text: string, items: readonly Node[], index: number): string {
  const [start, end] = rangeOf(items[index]);
  const next = items[index + 1];
  if (next !== undefined) return text.slice(0, start) + text.slice(rangeOf(next)[0]);
  const before = items[index - 1];
  return text.slice(0, before === undefined ? start : rangeOf(before)[1]) + text.slice(end);
}

/** Cuts whole lines, from the dash to the end of the entry; removing the last entry leaves an empty list. */
function cutFromBlock(text: string, items: readonly Node[], index: number): string {
  const item = items[index];
  const [start, end] = rangeOf(item);
  const first = text.lastIndexOf('\n', start - 1) + 1;
  const newline = text.indexOf('\n', lineEndFrom(item, end));
  const last = newline < 0 ? text.length : newline + 1;
  if (items.length > 1) return text.slice(0, first) + text.slice(last);
  const indent = ' '.repeat(Math.max(2, start - first));
  return `${text.slice(0, first)}${indent}[]\n${text.slice(last)}`;
}

/** A collection on lines of its own ends behind its last line. */
function lineEndFrom(node: Node | null | undefined, end: number): number {
  return isCollection(node) && node.flow !== true ? end - 1 : end;
}

function rangeOf(node: Node | undefined): readonly [start: number, end: number] {
  const [start = 0, end = 0] = node?.range ?? [];
  return [start, end];
}

/** Whether the cut text parses to the original without the node. */
function saysTheSame(text: string, cut: string, path: YamlPath): boolean {
  try {
    const wanted = parseDocument(text);
    wanted.deleteIn(path);
    const result = parseDocument(cut);
    return result.errors.length === 0 && isDeepStrictEqual(result.toJS(), wanted.toJS());
  } catch {
    return false; // the entry had an anchor that something else uses
  }
}
