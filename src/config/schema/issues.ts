import type * as z from 'zod';
import type { SourceDocument } from '../source/document.ts';
import { listOf, type Problem, suggest } from '../source/problems.ts';
import { buildJsonSchema, keysAt } from './json-schema.ts';

type Path = readonly PropertyKey[];
type Issue = z.core.$ZodIssue;

/** What the schema found wrong, in words, with places and suggestions. */
export function describeIssues(issues: readonly Issue[], value: unknown, source?: SourceDocument): Problem[] {
  return issues.flatMap((issue) => describe(issue, [], value, source));
}

function describe(issue: Issue, base: Path, value: unknown, source?: SourceDocument): Problem[] {
  const path = [...base, ...issue.path];
  const problem = (
    message: string,
    hint?: string,
    at: Path = path,
    part: 'key' | 'value' = 'value',
  ): Problem => {
    const place = source?.locate(at, part);
    return { severity: 'error', path: at, message, ...(hint && { hint }), ...(place && { place }) };
  };
  const given = valueAt(value, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const known = keysAt(buildJsonSchema(), path);
        const hint =
          suggest(key, known) ?? (known.length > 0 ? `known here: ${known.join(', ')}` : undefined);
        return problem('unknown key', hint, [...path, key], 'key');
      });
    case 'invalid_union':
      return (
        describeUnion(issue, path, value, source) ?? [
          problem(`expected ${alternatives(issue.errors.flat())}`),
        ]
      );
    case 'invalid_key':
      return [problem(issue.issues[0]?.message ?? 'invalid name', undefined, path, 'key')];
    case 'invalid_value': {
      const words = issue.values.map(String);
      const missing = given === undefined ? 'missing: ' : '';
      return [problem(`${missing}expected ${listOf(words, 'or')}`, suggest(String(given), words))];
    }
    case 'invalid_type': {
      const known = issue.expected === 'object' && given !== null ? keysAt(buildJsonSchema(), path) : [];
      const hint = known.length > 0 ? `its settings are ${listOf(known, 'and')}` : undefined;
      return [problem(typeMessage(issue, given), hint)];
    }
    default:
      return [problem(hasOwnWords(issue) ? issue.message : rangeMessage(issue))];
  }
}

/** The branch of a union that the author most likely meant: the one that got furthest into the value. */
function describeUnion(
  issue: z.core.$ZodIssueInvalidUnion,
  path: Path,
  value: unknown,
  source?: SourceDocument,
): Problem[] | undefined {
  const depth = (issues: readonly Issue[]) =>
    Math.max(...issues.map((inner) => inner.path.length + (inner.code === 'invalid_type' ? 0 : 0.5)));
  const reached = issue.errors
    .filter((issues) => issues.length > 0)
    .toSorted((a, b) => depth(b) - depth(a) || a.length - b.length);
  const [best] = reached;
  if (best === undefined || depth(best) === 0) return undefined;
  return best.flatMap((inner) => describe(inner, path, value, source));
}

function alternatives(issues: readonly Issue[]): string {
  const words = issues.map((issue) => {
    if (issue.code === 'invalid_type') return typeName(issue.expected);
    if (issue.code === 'invalid_value') return listOf(issue.values.map(String), 'or');
    return issue.message.replace(/^expected /, '');
  });
  return listOf([...new Set(words)], 'or');
}

function typeMessage(issue: z.core.$ZodIssueInvalidType, given: unknown): string {
  if (given === undefined)
    return hasOwnWords(issue) ? issue.message : `missing: expected ${typeName(issue.expected)}`;
  if (hasOwnWords(issue)) return issue.message;
  if (given === null)
    return `expected ${typeName(issue.expected)}, got nothing: remove the key or give it a value`;
  return `expected ${typeName(issue.expected)}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of settings',
  record: 'a group of named entries',
};

function typeName(expected: string): string {
  return typeNames[expected] ?? expected;
}

function rangeMessage(issue: Issue): string {
  if (issue.code === 'too_small' && issue.origin === 'array') return 'expected at least one entry';
  if (issue.code === 'too_small' && issue.origin === 'string') return 'must not be empty';
  if (issue.code === 'too_small')
    return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
  if (issue.code === 'too_big') return `expected at most ${issue.maximum}`;
  return issue.message;
}

/** Whether the schema brought its own message: zod's begin with one of these words. */
function hasOwnWords({ message }: Issue): boolean {
  return !/^(?:Invalid|Too (?:small|big)|Unrecognized)/.test(message);
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, step) ? Reflect.get(at, step) : undefined,
    value,
  );
}
