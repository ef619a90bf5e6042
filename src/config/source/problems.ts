import { GatewayError } from '../../errors.ts';

/** Where in a file something stands; the source line comes with its secrets hidden. */
export interface Position {
  readonly line: number;
  /** Both count from 1. */
  readonly column: number;
  readonly length: number;
  /** Absent if it is too long to be shown, as in a file that a program wrote on one line. */
  readonly source?: string;
}

/** One thing wrong, or worth knowing, in a configuration. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly hint?: string;
  readonly place?: Position | undefined;
  /** The file that it is about, if that is another one than the file that was read. */
  readonly file?: string | undefined;
  /** Set if it is one of a rule's own tests that failed, or something that the user has to allow. */
  readonly kind?: 'test' | 'want';
}

/** As they stand in the file. */
export function inFileOrder(problems: readonly Problem[]): readonly Problem[] {
  const position = ({ place }: Problem) =>
    place === undefined ? Number.MAX_VALUE : place.line * 1e4 + place.column;
  const isElsewhere = ({ file }: Problem) => Number(file !== undefined);
  return problems.toSorted((a, b) => isElsewhere(a) - isElsewhere(b) || position(a) - position(b));
}

/** An invalid configuration: `config.invalid` with all its problems. */
export class ConfigError extends GatewayError {
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    const errors = inFileOrder(problems.filter(({ severity }) => severity === 'error'));
    const count = countOf(errors, 'error');
    const files = [...new Set(errors.map((problem) => problem.file ?? file))];
    super(
      'config.invalid',
      `${count} in ${listOf(files, 'and')}\n${errors.map((problem) => formatProblem(problem, file)).join('\n')}`,
    );
    this.problems = problems;
  }
}

/** `a problem`, `3 problems`, `2 warnings` */
export function countOf(problems: readonly Problem[], severity: Problem['severity']): string {
  const count = problems.filter((problem) => problem.severity === severity).length;
  const noun = severity === 'error' ? 'problem' : 'warning';
  return count === 1 ? `a ${noun}` : `${count} ${noun}s`;
}

/** `file:line:column  path: what is wrong`, the line itself, and a caret under the place with a suggestion. */
export function formatProblem(problem: Problem, readFile: string): string {
  const { hint, place, severity, file = readFile } = problem;
  const what = `${severity === 'warning' ? 'warning: ' : ''}${describeProblem(problem)}`;
  const at = place === undefined ? '' : `:${place.line}:${place.column}`;
  const head = `${file}${at}  ${what}`;
  if (place?.source === undefined) return hint === undefined ? head : `${head}; ${hint}`;
  const margin = String(place.line).padStart(4);
  // A tab in the source moves the caret by as much as the text above it.
  const indent = place.source.slice(0, place.column - 1).replace(/[^\t]/g, ' ');
  const caret = `${' '.repeat(margin.length)} | ${indent}${'^'.repeat(place.length)}`;
  return [head, `${margin} | ${place.source}`, hint === undefined ? caret : `${caret}  ${hint}`].join('\n');
}

/** `path: what is wrong`, where nothing shows the place in the file. */
export function describeProblem({ path, message }: Pick<Problem, 'path' | 'message'>): string {
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
}

/** `policies.house.rules[1].action`; names that hold a dot stand in quotes. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const name = /^[^.[\]"\s]+$/.test(String(step)) ? String(step) : JSON.stringify(String(step));
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

/** `did you mean "block"?` where one of the candidates is a few slips away from the word. */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { candidate, distance };
  }
  return best === undefined ? undefined : `did you mean "${best.candidate}"?`;
}

/** `a, b or c` */
export function listOf(words: readonly string[], conjunction: 'or' | 'and'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`;
}

/** Letters to add, drop, change, or swap with their neighbour to make one word of the other. */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 8 || from.length > 100) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const change = from[i - 1] === to[j - 1] ? 0 : 1;
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + change);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[to.length] ?? 0;
}
