import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument, visit } from 'yaml';
import { partitionPoint } from '../../lib/partition-point.ts';
import { parseYamlJson } from './plain-json.ts';
import type { Position, Problem } from './problems.ts';

type Path = readonly PropertyKey[];

/** A YAML file that was read: its value, and where each part of it stands. */
export interface SourceDocument {
  readonly value: unknown;
  /** What is wrong with it as YAML; with any of these the value is not to be used. */
  readonly problems: readonly Problem[];
  /** Where the key or value at a path stands; for what is missing, its nearest parent that is there. */
  locate(path: Path, part: 'key' | 'value'): Position | undefined;
  /** Whether the file itself sets a value at this path. */
  has(path: Path): boolean;
}

/**
 * Parses one YAML document; every error comes back as a problem with its place. The lines that places quote don't show
 * what may be secret, which is judged by the names of settings, except for those that are known to be numbers. Of a text
 * that is JSON, as programs write large files, only the value is read until a place is asked for.
 */
export function parseSource(
  text: string,
  { isNumberOrBoolean = () => false, mayQuote = true }: ParseOptions = {},
): SourceDocument {
  let parsed: ParsedYaml | undefined;
  const yaml = () => {
    parsed ??= mayQuote ? parseYaml(text, isNumberOrBoolean) : unquoted(parseYaml(text, isNumberOrBoolean));
    return parsed;
  };
  const plain = mayQuote ? parseYamlJson(text) : undefined;
  return {
    value: plain === undefined ? yaml().value : plain.value,
    problems: plain === undefined ? yaml().problems : [],
    has: (path) => yaml().find(path).isExact,
    locate(path, part) {
      const { key, value, isExact } = yaml().find(path);
      const node = part === 'key' || !isExact ? (key ?? value) : (value ?? key);
      return node && yaml().place(rangeOf(node));
    },
  };
}

interface ParseOptions {
  readonly isNumberOrBoolean?: (path: Path) => boolean;
  /** False: no place shows its line, and of a text that is no group of settings in YAML no more is said than that. */
  readonly mayQuote?: boolean;
}

function unquoted({ value, problems, find, place }: ParsedYaml): ParsedYaml {
  const isGroup = problems.length === 0 && typeof value === 'object' && value !== null;
  return {
    value: isGroup ? value : undefined,
    problems: isGroup ? [] : [problem('a link to something that is no configuration')],
    find,
    place: (range) => {
      const { source: _, ...position } = place(range);
      return position;
    },
  };
}

interface ParsedYaml extends Pick<SourceDocument, 'value' | 'problems'> {
  find(path: Path): Found;
  place(range: Range): Position;
}

function parseYaml(text: string, isNumberOrBoolean: (path: Path) => boolean): ParsedYaml {
  // Of keys that are there twice it would say so at the second alone, and look through all the others for each.
  const document = parseDocument(text, { prettyErrors: false, stringKeys: true, uniqueKeys: false });
  const root = document.contents;
  const place = placesIn(text, root, isNumberOrBoolean);
  const problems: Problem[] = [...document.errors, ...document.warnings].map(({ pos, message, code }) => {
    const own =
      code === 'MULTIPLE_DOCS' &&
      'a second document begins here: a configuration is a single one, without further lines of ---';
    const hint = code === 'BAD_ALIAS' ? 'quote a value that begins with *' : hintFor(text, pos[0]);
    const range = { start: pos[0], end: pos[1] };
    return { ...problem(own || lowerFirst(message)), place: place(range), ...(hint && { hint }) };
  });
  problems.push(...problemsOfKeys(root, place));
  let value: unknown;
  try {
    if (problems.length === 0) value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // Aliases that unfold to more than a hundred times what is written: an attack, or an accident of the same size.
    problems.push(problem(lowerFirst(error instanceof Error ? error.message : 'invalid')));
  }
  return { value, problems, place, find: finderIn(root) };
}

function problem(message: string): Problem {
  return { severity: 'error', path: [], message };
}

/** Keys that are there already, that would merge, or that would be the prototype of an object. */
function problemsOfKeys(root: Node | null, place: (range: Range) => Position): readonly Problem[] {
  const problems: Problem[] = [];
  visit(root, {
    Map: (_, map) => {
      const seen = new Map<unknown, Range>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const range = rangeOf(key);
        const add = (message: string) => problems.push({ ...problem(message), place: place(range) });
        const first = seen.get(key.value);
        if (first === undefined) seen.set(key.value, range);
        else add(`this key is already on line ${place(first).line}`);
        if (key.value === '<<')
          add('<< does not merge here: write the settings out, or use an alias for a whole value');
        if (key.value === '__proto__') add('__proto__ is not allowed as a key');
      }
    },
  });
  return problems;
}

/** A key and its value, or an entry of a list; undefined where nothing is written, as after `server:`. */
interface Found {
  readonly key?: Node | undefined;
  readonly value?: Node | undefined;
  /** False for the nearest parent that is there, when nothing stands at the path itself. */
  readonly isExact: boolean;
}

/** Finds what stands at a path, by an index of each map that is on a way. */
function finderIn(root: Node | null): (path: Path) => Found {
  const indexes = new WeakMap<Node, ReadonlyMap<string, Pair<Node, Node | null>>>();
  const pairAt = (map: Node, step: PropertyKey) => {
    if (!isMap<Node, Node | null>(map)) return undefined; // as a parsed document has them
    const index = indexes.get(map) ?? new Map(map.items.toReversed().map((pair) => [textOf(pair.key), pair]));
    indexes.set(map, index);
    return index.get(String(step));
  };
  return (path) => {
    let found: Omit<Found, 'isExact'> = { value: written(root) };
    for (const step of path) {
      const { value } = found;
      const pair = value && pairAt(value, step);
      const item = isSeq<Node>(value) && typeof step === 'number' ? value.items[step] : undefined;
      if (pair === undefined && item === undefined) return { ...found, isExact: false };
      found = { key: pair?.key, value: written(pair === undefined ? item : pair.value) };
    }
    return { ...found, isExact: true };
  };
}

function written(node: Node | null | undefined): Node | undefined {
  if (node === null || node === undefined) return undefined;
  const { start, end } = rangeOf(node);
  return isScalar(node) && start === end ? undefined : node;
}

/** Where something stands in a text, by offsets. */
interface Range {
  readonly start: number;
  readonly end: number;
}

function rangeOf(node: Node): Range {
  const [start = 0, end = start + 1] = node.range ?? [];
  return { start, end };
}

function textOf(node: Node | null | undefined): string {
  return isScalar(node) ? String(node.value) : '';
}

/** Of a line, in characters: a few lines of a terminal. */
const maxShownLength = 500;

/** Finds line and column of what stands in a text, and the line itself without its secrets. */
function placesIn(
  text: string,
  root: Node | null,
  isNumberOrBoolean: (path: Path) => boolean,
): (range: Range) => Position {
  const lines = lineStarts(text);
  let secrets: readonly Range[] | undefined;
  return ({ start, end }) => {
    const line = partitionPoint(lines.length, (i) => (lines[i] ?? 0) <= start);
    const lineStart = lines[line - 1] ?? 0;
    const column = start - lineStart + 1;
    const source = text.slice(lineStart, lines[line]).replace(/\r?\n$/, '');
    const length = Math.max(1, Math.min(end - start, source.length - (column - 1)));
    if (source.length > maxShownLength) return { line, column, length };
    secrets ??= secretsIn(root, isNumberOrBoolean);
    return { line, column, length, source: hideSecrets(source, lineStart, secrets) };
  };
}

/** Not yaml's own counter, which misses lines behind a mistake. */
function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function hideSecrets(source: string, lineStart: number, secrets: readonly Range[]): string {
  const end = lineStart + source.length;
  let shown = source;
  const first = partitionPoint(secrets.length, (i) => (secrets[i]?.end ?? 0) <= lineStart);
  for (const secret of secrets.slice(first, first + source.length)) {
    const from = Math.max(0, secret.start - lineStart);
    const to = Math.min(source.length, secret.end - lineStart);
    if (secret.start >= end) break;
    shown = shown.slice(0, from) + '*'.repeat(to - from) + shown.slice(to);
  }
  return shown;
}

const secretKey = /key|kye|token|secret|password|value|database|state|proxy/i;
const secretText = /^(?:sk-|gw_)|:\/\/.*@/;

/**
 * What may be secret, in the order of the file and misspelt keys included: what is quoted of the file must not show it. A
 * setting that is known to be a number is not, whatever its name.
 */
function secretsIn(root: Node | null, isNumberOrBoolean: (path: Path) => boolean): readonly Range[] {
  const secrets: Range[] = [];
  const read = (node: Node | null | undefined, name: string, path: Path): void => {
    if (isMap<Node, Node | null>(node)) {
      for (const { key, value } of node.items) {
        const text = textOf(key);
        if (secretText.test(text)) secrets.push(rangeOf(key));
        read(value, text, [...path, text]);
      }
    } else if (isSeq<Node>(node)) {
      for (const [i, item] of node.items.entries()) read(item, '', [...path, i]);
    } else if (isScalar(node) && written(node) !== undefined) {
      const text = textOf(node);
      const isNamedSo = secretKey.test(name) && mayBeSecret(text) && !isNumberOrBoolean(path);
      if (secretText.test(text) || isNamedSo) secrets.push(rangeOf(node));
    }
  };
  read(root, '', []);
  return secrets;
}

function mayBeSecret(text: string): boolean {
  return !/^(?:true|false|null|~|)$/i.test(text) && !/^\$\{[A-Za-z0-9_]*\}$/.test(text);
}

function hintFor(text: string, at: number): string | undefined {
  // In { } and [ ] a plain scalar ends at a brace, so ${NAME} there falls apart.
  const isReference = text.slice(Math.max(0, at - 80), at + 80).includes('${');
  return isReference ? `inside { } and [ ] write "\${NAME}" in quotes` : undefined;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
