import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, visit } from 'yaml';
import type { Place, Problem } from './problems.ts';

type Path = readonly PropertyKey[];

/** A YAML file that was read: its value, and where each part of it stands. */
export interface SourceDocument {
  readonly value: unknown;
  /** What is wrong with it as YAML; with any of these the value is not to be used. */
  readonly problems: readonly Problem[];
  /** Where the key or value at a path stands; for what is missing, its nearest parent that is there. */
  locate(path: Path, part: 'key' | 'value'): Place | undefined;
  /** Whether the file itself says something at this path. */
  has(path: Path): boolean;
}

/** Parses one YAML document; every error comes back as a problem with its place. */
export function parseSource(text: string): SourceDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const sourceLines = text.split(/\r?\n/);
  const secrets = secretRanges(document.contents);
  const place = (start: number, end: number): Place => {
    const { line, col } = lines.linePos(start);
    const lineStart = start - (col - 1);
    const source = sourceLines[line - 1] ?? '';
    const length = Math.max(1, Math.min(end - start, source.length - (col - 1)));
    return { line, column: col, length, source: hideSecrets(source, lineStart, secrets) };
  };
  const problems = [...document.errors, ...document.warnings].map(({ pos, message, code }): Problem => {
    const hint = code === 'BAD_ALIAS' ? 'quote a value that begins with *' : hintFor(text, pos[0]);
    const first = code === 'DUPLICATE_KEY' ? firstOfSame(document.contents, pos[0]) : undefined;
    const own =
      code === 'MULTIPLE_DOCS'
        ? 'a second document begins here: a configuration is a single one, without further lines of ---'
        : first && `this key is already on line ${lines.linePos(rangeOf(first)[0]).line}`;
    return {
      severity: 'error',
      path: [],
      message: own ?? lowerFirst(message),
      place: place(pos[0], pos[1]),
      ...(hint && { hint }),
    };
  });
  const dangerous = dangerousKeys(document.contents).map(
    (node): Problem => ({
      severity: 'error',
      path: [],
      message: isScalar(node) && node.value === '<<' ? mergeMessage : '__proto__ is not allowed as a key',
      place: place(...rangeOf(node)),
    }),
  );
  const value =
    problems.length === 0 ? toValue(() => document.toJS({ maxAliasCount: 100 }), problems) : undefined;
  return {
    value,
    problems: [...problems, ...dangerous],
    has: (path) => find(document.contents, path)?.isExact === true,
    locate(path, part) {
      const found = find(document.contents, path);
      if (found === undefined) return undefined;
      const preferKey = part === 'key' || !found.isExact || isEmpty(found.value);
      const node = preferKey ? (found.key ?? found.value) : (found.value ?? found.key);
      return node === undefined ? undefined : place(...rangeOf(node));
    },
  };
}

function toValue(read: () => unknown, problems: Problem[]): unknown {
  try {
    return read();
  } catch (error) {
    // Aliases that unfold to more than a hundred times what is written: an attack, or an accident of the same size.
    problems.push({
      severity: 'error',
      path: [],
      message: lowerFirst(error instanceof Error ? error.message : 'invalid'),
    });
    return undefined;
  }
}

interface Found {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
  readonly isExact: boolean;
}

function find(root: Node | null, path: Path): Found | undefined {
  let found: Found = { key: undefined, value: root ?? undefined, isExact: true };
  for (const step of path) {
    const next = child(found.value, step);
    if (next === undefined) return { ...found, isExact: false };
    found = next;
  }
  return found;
}

function child(parent: Node | undefined, step: PropertyKey): Found | undefined {
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(step)) as
      | Pair<Node, Node | null>
      | undefined; // what a parsed document holds, in place of yaml's wider default
    return pair && { key: pair.key, value: pair.value ?? undefined, isExact: true };
  }
  if (isSeq(parent) && typeof step === 'number') {
    const item = parent.items[step] as Node | undefined; // as above
    return item && { key: undefined, value: item, isExact: true };
  }
  return undefined;
}

/** A value that is not written at all, as after `server:` at the end of a line. */
function isEmpty(value: Node | undefined): boolean {
  return value?.range !== undefined && value.range !== null && value.range[0] === value.range[1];
}

function rangeOf(node: Node): [number, number] {
  const [start = 0, end = start + 1] = node.range ?? [];
  return [start, end];
}

const mergeMessage = '<< does not merge here: write the settings out, or use an alias for a whole value';

/** The key that one at an offset repeats. */
function firstOfSame(root: Node | null, offset: number): Node | undefined {
  let first: Node | undefined;
  visit(root, {
    Map: (_, { items }) => {
      const keys = items.map(({ key }) => key).filter((key) => isScalar(key));
      const repeated = keys.find((key) => rangeOf(key)[0] === offset);
      if (repeated !== undefined) first = keys.find(({ value }) => value === repeated.value);
    },
  });
  return first;
}

function dangerousKeys(root: Node | null): Node[] {
  const found: Node[] = [];
  visit(root, {
    Pair: (_, { key }) => {
      if (isScalar(key) && (key.value === '__proto__' || key.value === '<<')) found.push(key);
    },
  });
  return found;
}

const secretKey = /key|kye|token|secret|password|value|database|state|proxy/i;

/** Where values stand that may be secret, misspelt keys included: what is quoted of the file must not show them. */
function secretRanges(root: Node | null): [number, number][] {
  const ranges: [number, number][] = [];
  visit(root, {
    Pair: (_, { key, value }) => {
      if (isScalar(key) && secretKey.test(String(key.value)) && isScalar(value) && mayBeSecret(value.value)) {
        ranges.push(rangeOf(value));
      }
    },
    Scalar: (_, node) => {
      if (/^(?:sk-|gw_)|:\/\/.*@/.test(String(node.value))) ranges.push(rangeOf(node));
    },
  });
  return ranges;
}

function mayBeSecret(value: unknown): boolean {
  return typeof value !== 'boolean' && value !== null && !/^\$\{[A-Za-z0-9_]*\}$/.test(String(value));
}

function hideSecrets(source: string, lineStart: number, ranges: readonly [number, number][]): string {
  let shown = source;
  for (const [start, end] of ranges) {
    const from = Math.max(0, start - lineStart);
    const to = Math.min(source.length, end - lineStart);
    if (from < to) shown = shown.slice(0, from) + '*'.repeat(to - from) + shown.slice(to);
  }
  return shown;
}

function hintFor(text: string, at: number): string | undefined {
  // In { } and [ ] a plain scalar ends at a brace, so ${NAME} there falls apart.
  const isReference = text.slice(Math.max(0, at - 80), at + 80).includes('${');
  return isReference ? `inside { } and [ ] write "\${NAME}" in quotes` : undefined;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
