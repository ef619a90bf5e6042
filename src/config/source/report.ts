import type { SourceDocument } from './document.ts';
import { listOf, type Problem } from './problems.ts';
import type { Reference } from './substitute.ts';

type Path = readonly PropertyKey[];

interface Remark {
  readonly hint?: string | undefined;
  /** Whether the caret stands under the key or (the default) its value. */
  readonly part?: 'key' | 'value';
  readonly kind?: Problem['kind'] | undefined;
}

/** Collects what the checks find, each with its place in the file. */
export interface ProblemSink {
  readonly problems: readonly Problem[];
  error(path: Path, message: string, remark?: Remark): void;
  warn(path: Path, message: string, remark?: Remark): void;
  add(problems: readonly Problem[]): void;
  /** Why something below this path is missing: the unset variables it names; undefined when nothing is. */
  missingBelow(path: Path): string | undefined;
  /** Whether the string at this path is one `${NAME}` and nothing else. */
  isFromEnvironment(path: Path): boolean;
  /** Whether the string at this path has something from the environment. */
  hasReference(path: Path): boolean;
  /** Whether the value at this path was left out as invalid: it exists, but must not be read. */
  isLeftOut(path: Path): boolean;
}

interface Context {
  readonly source: SourceDocument | undefined;
  readonly references: readonly Reference[];
  /** Parts already reported as wrong; what else is found in them is not worth a second message. */
  readonly leftOut?: readonly Path[];
  readonly borrowed?: Borrowed | undefined;
}

/** Settings that another file brings. */
export interface Borrowed {
  /** Absolute. */
  readonly file: string;
  readonly source: SourceDocument | undefined;
  readonly references: readonly Reference[];
  /** Where in that file a setting stands; undefined for those that it doesn't bring. */
  pathThere(path: Path): Path | undefined;
}

export function createReport({ source, references, leftOut = [], borrowed }: Context): ProblemSink {
  const problems: Problem[] = [];
  const referenced = new PathIndex<Reference>();
  for (const reference of references) referenced.add(reference.path, reference);
  const omitted = new PathIndex<Path>();
  for (const path of leftOut) omitted.add(path, path);
  const push = (severity: Problem['severity'], path: Path, message: string, remark: Remark = {}) => {
    if (omitted.covers(path) || omitted.below(path).length > 0) return;
    const { hint, kind, part = 'value' } = remark;
    const there = borrowed?.pathThere(path);
    problems.push({
      severity,
      path: there ?? path,
      message,
      ...(there !== undefined && { file: borrowed?.file }),
      ...(hint !== undefined && { hint }),
      ...(kind && { kind }),
      // Found when it is shown: of a warning in a log it never is.
      get place() {
        return there === undefined ? source?.locate(path, part) : borrowed?.source?.locate(there, part);
      },
    });
  };
  return {
    problems,
    error: (path, message, remark) => push('error', path, message, remark),
    warn: (path, message, remark) => push('warning', path, message, remark),
    add: (more) => problems.push(...more),
    missingBelow(path) {
      const names = referenced.below(path).flatMap(({ unset }) => unset);
      return names.length === 0 ? undefined : areNotSet(names);
    },
    isFromEnvironment: (path) => referenced.at(path)?.isEntireValue === true,
    hasReference: (path) => referenced.at(path) !== undefined,
    isLeftOut: (path) => omitted.covers(path),
  };
}

/** `A is not set`, `A and B are not set` */
export function areNotSet(names: readonly string[]): string {
  const all = [...new Set(names)];
  return `${listOf(all, 'and')} ${all.length === 1 ? 'is' : 'are'} not set`;
}

/** Warns of a secret that is written in the file. */
export function warnIfWritten(report: ProblemSink, path: Path, what: string): void {
  if (report.isFromEnvironment(path)) return;
  report.warn(path, `${what} in the file is easily shared by mistake`, {
    hint: `write \${NAME} and set that environment variable`,
  });
}

/** Things that stand at paths, found by a path at, above or below theirs without a look at all the others. */
export class PathIndex<Item> {
  readonly #at = new Map<string, Item>();
  readonly #below = new Map<string, Item[]>();

  add(path: Path, item: Item): void {
    this.#at.set(JSON.stringify(path), item);
    for (let length = 0; length <= path.length; length += 1) {
      const head = JSON.stringify(path.slice(0, length));
      const items = this.#below.get(head);
      if (items === undefined) this.#below.set(head, [item]);
      else items.push(item);
    }
  }

  at(path: Path): Item | undefined {
    return this.#at.size === 0 ? undefined : this.#at.get(JSON.stringify(path));
  }

  /** What stands at a path or below it, in the order in which it was added. */
  below(path: Path): readonly Item[] {
    return this.#at.size === 0 ? [] : (this.#below.get(JSON.stringify(path)) ?? []);
  }

  /** Whether something stands at a path or above it. */
  covers(path: Path): boolean {
    return path.some((_, i) => this.at(path.slice(0, i)) !== undefined) || this.at(path) !== undefined;
  }
}
