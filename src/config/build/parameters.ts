import { both } from '../../dialects/fields.ts';
import type { ModelSettings } from '../schema/schema.ts';
import { listOf } from '../source/problems.ts';
import type { ProblemSink } from '../source/report.ts';

/** What becomes of members of a body, each by all the spellings that its host takes, as a tree; plain data. */
export type Parameters = readonly (readonly [spellings: readonly [string, ...string[]], change: Change])[];

export type Change =
  /** The value as JSON. Where another name of the same setting stands in the file, this one is only held, never added. */
  | { readonly kind: 'set'; readonly json: string; readonly isOnlyHeld?: true }
  /** The same where the client sent none, or null, neither here nor by the other names of the setting. */
  | { readonly kind: 'default'; readonly json: string; readonly others?: readonly string[] }
  | { readonly kind: 'remove' }
  | { readonly kind: 'inside'; readonly members: Parameters };

/** Names of one setting, with the same values: hosts take several, and clients may send either. */
const synonyms: readonly (readonly string[])[] = [
  ['reasoning_effort', 'reasoning.effort'],
  ['enable_thinking', 'chat_template_kwargs.enable_thinking'],
  ['thinking_budget', 'chat_template_kwargs.thinking_budget'],
];

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
      ([name, value]) =>
        [name, { kind: 'default', json: JSON.stringify(value), others: othersOf(name) }] as const,
    ),
    ...remove.map((name) => [name, { kind: 'remove' }] as const),
  ];
  if (changes.length === 0) return undefined;
  const names = changes.map(([name]) => name);
  const twice = names.filter((name, i) => names.indexOf(name) < i);
  if (twice.length > 0)
    report.error(path, `${listOf([...new Set(twice)], 'and')} stands here more than once`);
  return toTree([...changes, ...changesOfOthers(changes)].map(([name, change]) => [stepsOf(name), change]));
}

function othersOf(name: string): readonly string[] {
  return synonyms.find((names) => names.includes(name))?.filter((other) => other !== name) ?? [];
}

/** What is set or removed by one name is held or removed by its other ones too, if nothing is said of those. */
function changesOfOthers(
  changes: readonly (readonly [string, Change])[],
): readonly (readonly [string, Change])[] {
  const named = new Set(changes.map(([name]) => name));
  return changes.flatMap(([name, change]) => {
    if (change.kind === 'default') return [];
    const changed: Change = change.kind === 'set' ? { ...change, isOnlyHeld: true } : change;
    return othersOf(name)
      .filter((other) => !named.has(other))
      .map((other) => [other, changed] as const);
  });
}

type Spellings = Parameters[number][0];

function stepsOf(path: string): readonly Spellings[] {
  const isGoogles = path.startsWith('generationConfig.');
  return path.split('.').map((name) => [name, ...(isGoogles ? both(name).slice(1) : [])] as const);
}

function toTree(changes: readonly (readonly [path: readonly Spellings[], change: Change])[]): Parameters {
  const steps = new Map(
    changes.flatMap(([[step]]) => (step === undefined ? [] : [[step[0], step] as const])),
  );
  return [...steps].map(([name, spellings]) => {
    const below = changes.filter(([[first]]) => first?.[0] === name);
    const whole = below.find(([path]) => path.length === 1);
    if (whole !== undefined) return [spellings, whole[1]];
    const members = toTree(below.map(([path, change]) => [path.slice(1), change]));
    return [spellings, { kind: 'inside', members }];
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
