import { isDeepStrictEqual } from 'node:util';
import { covers } from '../glob.ts';
import type { ConditionsOptions, RouteOptions } from './schema.ts';

/** A request can have several of these; one side wants any of them to match, the other all. */
const several: ReadonlySet<string> = new Set([
  'model',
  'tools',
  'provider',
] satisfies (keyof ConditionsOptions)[]);

/** Whether conditions never hold, since `unless` does whenever `when` does; "no" where that is hard to decide. */
export function excludesItself({ when, unless }: RouteOptions): boolean {
  if (when === undefined || unless === undefined) return false;
  return implies(when, unless) && !Object.keys(unless).some((name) => several.has(name));
}

/** Whether conditions hold whenever others do; "no" where that is hard to decide. */
export function implies(narrow: ConditionsOptions, wide: ConditionsOptions): boolean {
  return Object.entries(wide).every(([name, options]) => {
    const own = narrow[name as keyof ConditionsOptions];
    if (own === undefined) return false;
    return isDeepStrictEqual(own, options) || impliesOne(own, options);
  });
}

function impliesOne(narrow: unknown, wide: unknown): boolean {
  if (Array.isArray(narrow) && Array.isArray(wide)) {
    return narrow.every((each) => wide.some((other) => covers(String(other), String(each))));
  }
  return isOver(narrow) && isOver(wide) && Object.keys(narrow).length === 1 && narrow.over >= wide.over;
}

function isOver(options: unknown): options is { readonly over: number } {
  return (
    typeof options === 'object' && options !== null && 'over' in options && typeof options.over === 'number'
  );
}
