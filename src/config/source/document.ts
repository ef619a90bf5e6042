import { partitionPoint } from '../../partition-point.ts';
import { findPart, type Part, type Range, secretsIn } from './layout.ts';
import { parseJson } from './plain-json.ts';
import { parsePlain } from './plain-yaml.ts';
import type { Position, Problem } from './problems.ts';
import { parseWhole } from './whole-yaml.ts';

type Path = readonly PropertyKey[];

/** A YAML file that was read: its value, and where each part of it stands. */
export interface SourceDocument {
  readonly value: unknown;
  /** What is wrong with it as YAML; with any of these the value is not to be used. */
  readonly problems: readonly Problem[];
  /** Where the key or value at a path stands; for what is missing, its nearest parent that is there. */
  locate(path: Path, part: 'key' | 'value'): Position | undefined;
  /** Whether the file itself says something at this path. */
  has(path: Path): boolean;
}

/**
 * Parses one YAML document; every error comes back as a problem with its place. The lines that places quote don't show
 * what may be secret, which is judged by the names of settings, except for those that are known to be numbers.
 */
export function parseSource(
  text: string,
  isNumberOrBoolean: (path: Path) => boolean = () => false,
): SourceDocument {
  const { value, root, faults } = parseJson(text) ?? parsePlain(text) ?? parseWhole(text);
  const place = placesIn(text, root, isNumberOrBoolean);
  return {
    value,
    problems: faults.map(({ message, range, hint, repeats }) => ({
      severity: 'error',
      path: [],
      message: repeats === undefined ? message : `${message} on line ${place(repeats).line}`,
      ...(range && { place: place(range) }),
      ...(hint !== undefined && { hint }),
    })),
    has: (path) => findPart(root, path).isExact,
    locate(path, part) {
      const { key, value: found, isExact } = findPart(root, path);
      const range = part === 'key' || !isExact ? (key ?? found) : (found ?? key);
      return range && place(range);
    },
  };
}

/** Of a line, in characters: a few lines of a terminal. */
const longestShown = 500;

/** Finds line and column of what stands in a text, and the line itself without its secrets. */
function placesIn(
  text: string,
  root: Part | undefined,
  isNumberOrBoolean: (path: Path) => boolean,
): (range: Range) => Position {
  let starts: readonly number[] | undefined;
  return ({ start, end }) => {
    starts ??= lineStarts(text);
    const lines = starts;
    const line = partitionPoint(lines.length, (i) => (lines[i] ?? 0) <= start);
    const lineStart = lines[line - 1] ?? 0;
    const source = text.slice(lineStart, lines[line]).replace(/\r?\n$/, '');
    const column = start - lineStart + 1;
    const length = Math.max(1, Math.min(end - start, source.length - (column - 1)));
    if (source.length > longestShown) return { line, column, length };
    const whole = { start: lineStart, end: lineStart + source.length };
    return {
      line,
      column,
      length,
      source: hideSecrets(source, whole, secretsIn(whole, root, isNumberOrBoolean)),
    };
  };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function hideSecrets(source: string, line: Range, secrets: readonly Range[]): string {
  let shown = source;
  for (const { start, end } of secrets) {
    const from = Math.max(0, start - line.start);
    const to = Math.min(source.length, end - line.start);
    if (from < to) shown = shown.slice(0, from) + '*'.repeat(to - from) + shown.slice(to);
  }
  return shown;
}
