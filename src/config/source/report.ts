import type { SourceDocument } from './document.ts';
import type { Problem } from './problems.ts';
import type { Reference } from './substitute.ts';

type Path = readonly PropertyKey[];

interface Remark {
  readonly hint?: string | undefined;
  /** Whether the caret stands under the key or (the default) its value. */
  readonly part?: 'key' | 'value';
  readonly kind?: Problem['kind'] | undefined;
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
  /** Whether the value at this path was left out as invalid: it exists, but must not be read. */
  isLeftOut(path: Path): boolean;
}

interface Context {
  readonly source: SourceDocument | undefined;
  readonly references: readonly Reference[];
  /** Parts already reported as wrong; what else is found in them is not worth a second message. */
  readonly leftOut?: readonly Path[];
}

export function createReport({ source, references, leftOut = [] }: Context): Report {
  const problems: Problem[] = [];
  const push = (severity: Problem['severity'], path: Path, message: string, remark: Remark = {}) => {
    if (leftOut.some((part) => startsWith(path, part) || startsWith(part, path))) return;
    const place = source?.locate(path, remark.part ?? 'value');
    const { hint, kind } = remark;
    problems.push({
      severity,
      path,
      message,
      ...(hint !== undefined && { hint }),
      ...(place && { place }),
      ...(kind && { kind }),
    });
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
    isLeftOut: (path) => leftOut.some((part) => startsWith(path, part)),
  };
}

function startsWith(path: Path, head: Path): boolean {
  return head.every((step, i) => path[i] === step);
}
