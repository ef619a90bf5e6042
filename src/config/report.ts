import type { SourceDocument } from './document.ts';
import type { Problem } from './problems.ts';
import type { Reference } from './substitute.ts';

type Path = readonly PropertyKey[];

interface Remark {
  readonly hint?: string | undefined;
  /** Whether the caret stands under the key or (the default) its value. */
  readonly part?: 'key' | 'value';
}

/** Collects what the checks find, each with its place in the file. */
export interface Report {
  readonly problems: readonly Problem[];
  error(path: Path, message: string, remark?: Remark): void;
  warn(path: Path, message: string, remark?: Remark): void;
  add(problems: readonly Problem[]): void;
  /** Why something below this path is missing: the unset variables it names; undefined when nothing is. */
  missingBelow(path: Path): string | undefined;
  /** Whether the string at this path is one `${NAME}` and nothing else. */
  isFromEnvironment(path: Path): boolean;
}

export function createReport(source: SourceDocument | undefined, references: readonly Reference[]): Report {
  const problems: Problem[] = [];
  const push = (severity: Problem['severity'], path: Path, message: string, remark: Remark = {}) => {
    const place = source?.locate(path, remark.part ?? 'value');
    const { hint } = remark;
    problems.push({ severity, path, message, ...(hint !== undefined && { hint }), ...(place && { place }) });
  };
  return {
    problems,
    error: (path, message, remark) => push('error', path, message, remark),
    warn: (path, message, remark) => push('warning', path, message, remark),
    add: (more) => problems.push(...more),
    missingBelow(path) {
      const names = references
        .filter((reference) => startsWith(reference.path, path))
        .flatMap(({ unset }) => unset);
      return names.length === 0 ? undefined : `${[...new Set(names)].join(', ')} is not set`;
    },
    isFromEnvironment: (path) =>
      references.some(
        (reference) =>
          reference.isWhole && reference.path.length === path.length && startsWith(reference.path, path),
      ),
  };
}

export function startsWith(path: Path, head: Path): boolean {
  return head.every((step, i) => path[i] === step);
}
