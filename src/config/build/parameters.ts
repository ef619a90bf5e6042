import type { ModelSettings } from '../schema/schema.ts';
import { listOf } from '../source/problems.ts';
import type { ProblemSink } from '../source/report.ts';

/** What becomes of members of a body, as a tree; plain data. */
export type Parameters = readonly (readonly [name: string, change: Change])[];

export type Change =
  /** The value as JSON; a default where the client sent none, or null. */
  | { readonly kind: 'set' | 'default'; readonly json: string }
  | { readonly kind: 'remove' }
  | { readonly kind: 'inside'; readonly members: Parameters };

/** A header that every request to a target has. */
export interface StaticHeader {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
  /** What is in it of secrets; empty if it stands in the file. */
  readonly secrets: readonly string[];
}

type Changes = Pick<ModelSettings, 'set' | 'default' | 'remove' | 'headers'>;

/** The changes as a tree; undefined if there are none. Members that stand in one another are reported. */
export function buildParameters(
  path: readonly PropertyKey[],
  { set = {}, default: defaults = {}, remove = [] }: Changes,
  report: ProblemSink,
): Parameters | undefined {
  const changes: readonly (readonly [string, Change])[] = [
    ...Object.entries(set).map(
      ([name, value]) => [name, { kind: 'set', json: JSON.stringify(value) }] as const,
    ),
    ...Object.entries(defaults).map(
      ([name, value]) => [name, { kind: 'default', json: JSON.stringify(value) }] as const,
    ),
    ...remove.map((name) => [name, { kind: 'remove' }] as const),
  ];
  if (changes.length === 0) return undefined;
  const names = changes.map(([name]) => name);
  const twice = names.filter((name, i) => names.indexOf(name) < i);
  if (twice.length > 0)
    report.error(path, `${listOf([...new Set(twice)], 'and')} stands here more than once`);
  return toTree(changes.map(([name, change]) => [name.split('.'), change] as const));
}

function toTree(changes: readonly (readonly [path: readonly string[], change: Change])[]): Parameters {
  const names = new Set(changes.map(([[name = '']]) => name));
  return [...names].map((name) => {
    const below = changes.filter(([[first]]) => first === name);
    const whole = below.find(([path]) => path.length === 1);
    if (whole !== undefined) return [name, whole[1]];
    const members = toTree(below.map(([path, change]) => [path.slice(1), change]));
    return [name, { kind: 'inside', members }];
  });
}

/** A header whose variable is not set is reported: whoever asks for it may depend on it. */
export function buildHeaders(
  path: readonly PropertyKey[],
  { headers }: Changes,
  report: ProblemSink,
): readonly StaticHeader[] | undefined {
  const missing = report.missingBelow([...path, 'headers']);
  if (missing !== undefined) report.error([...path, 'headers'], missing, { part: 'key' });
  if (headers === undefined) return undefined;
  return Object.entries(headers).map(([name, value]) => ({
    name: name.toLowerCase(),
    value,
    secrets: report.hasReference([...path, 'headers', name]) ? (value.match(/[\x21-\x7e]{16,}/g) ?? []) : [],
  }));
}
