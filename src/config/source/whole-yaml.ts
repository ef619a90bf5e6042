import { type Document, isMap, isScalar, isSeq, type Node, parseDocument, visit } from 'yaml';
import {
  type Entries,
  type Entry,
  entriesOf,
  type Fault,
  type ParsedText,
  type Part,
  type Range,
} from './layout.ts';

/** Parses any text, right or wrong, and finds everything that is wrong with it. */
export function parseWhole(text: string): ParsedText {
  // Of keys that are there twice it would say so at the second alone, and look through all the others for each.
  const document = parseDocument(text, { prettyErrors: false, stringKeys: true, uniqueKeys: false });
  const faults = [...document.errors, ...document.warnings].map(({ pos, message, code }): Fault => {
    const own =
      code === 'MULTIPLE_DOCS' &&
      'a second document begins here: a configuration is a single one, without further lines of ---';
    const hint = code === 'BAD_ALIAS' ? 'quote a value that begins with *' : hintFor(text, pos[0]);
    return { range: { start: pos[0], end: pos[1] }, message: own || lowerFirst(message), hint };
  });
  faults.push(...faultsOfKeys(document.contents));
  const value = faults.length === 0 ? toValue(document, faults) : undefined;
  return { value, root: partOf(document.contents), faults };
}

function toValue(document: Document, faults: Fault[]): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // Aliases that unfold to more than a hundred times what is written: an attack, or an accident of the same size.
    faults.push({ message: lowerFirst(error instanceof Error ? error.message : 'invalid') });
    return undefined;
  }
}

function partOf(node: Node | null | undefined): Part | undefined {
  if (node === null || node === undefined) return undefined;
  const { start, end } = rangeOf(node);
  if (isScalar(node)) return start === end ? undefined : { start, end, text: String(node.value) };
  let entries: Entries | undefined;
  return {
    start,
    end,
    entries() {
      entries ??= entriesOf(partsOf(node), isSeq(node));
      return entries;
    },
  };
}

function partsOf(node: Node): readonly Entry[] {
  // Both as a parsed document has them, in place of yaml's wider default.
  if (isSeq<Node>(node)) return node.items.map((item) => ({ value: partOf(item) }));
  if (!isMap<Node, Node | null>(node)) return [];
  return node.items.map(({ key, value }) => ({ key: partOf(key), value: partOf(value) }));
}

function rangeOf(node: Node): Range {
  const [start = 0, end = start + 1] = node.range ?? [];
  return { start, end };
}

/** Keys that are there already, that would merge, or that would be the prototype of an object. */
function faultsOfKeys(root: Node | null): readonly Fault[] {
  const faults: Fault[] = [];
  visit(root, {
    Map: (_, map) => {
      const seen = new Map<unknown, Range>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const range = rangeOf(key);
        const first = seen.get(key.value);
        if (first === undefined) seen.set(key.value, range);
        else faults.push({ range, message: 'this key is already', repeats: first });
        if (key.value === '<<') faults.push({ range, message: mergeMessage });
        if (key.value === '__proto__') faults.push({ range, message: '__proto__ is not allowed as a key' });
      }
    },
  });
  return faults;
}

const mergeMessage = '<< does not merge here: write the settings out, or use an alias for a whole value';

function hintFor(text: string, at: number): string | undefined {
  // In { } and [ ] a plain scalar ends at a brace, so ${NAME} there falls apart.
  const isReference = text.slice(Math.max(0, at - 80), at + 80).includes('${');
  return isReference ? `inside { } and [ ] write "\${NAME}" in quotes` : undefined;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
