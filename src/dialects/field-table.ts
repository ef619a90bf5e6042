import { type Dropped, type Fields, noteDropped, unsupported } from './fields.ts';
import type { TranslationContext } from './translation/model-quirks.ts';

/** Kept for the parser of the request, left out, or a 400 with `param` and these words. */
type Fate = 'kept' | 'dropped' | { readonly refused: string };
type Rule = Fate | ((value: unknown, context: TranslationContext) => Fate);

/**
 * What becomes of each top-level field of a request on its way to a provider of another dialect. docs/translation.md says
 * it in words for all fields, and tests compare the two.
 */
export type FieldTable = ReadonlyMap<string, Rule>;

interface FieldRules {
  /** Names with spaces between; so are those that are dropped. */
  readonly kept?: string;
  readonly dropped?: string;
  readonly rules?: Readonly<Record<string, Rule>>;
}

export function fieldTable(...parts: readonly FieldRules[]): FieldTable {
  const names = (text = '') => text.split(' ').filter((name) => name !== '');
  return new Map(
    parts.flatMap(({ kept, dropped, rules = {} }): (readonly [string, Rule])[] => [
      ...names(kept).map((name) => [name, 'kept'] as const),
      ...names(dropped).map((name) => [name, 'dropped'] as const),
      ...Object.entries(rules),
    ]),
  );
}

/**
 * Refuses what must be refused, and returns the body without what is dropped. A field that the table does not know is
 * dropped.
 */
export function applyTable(
  body: Fields,
  table: FieldTable,
  context: TranslationContext,
  dropped: Dropped,
): Fields {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    const rule = table.get(key) ?? 'dropped';
    const fate = typeof rule === 'function' ? rule(value, context) : rule;
    if (fate === 'kept') kept[key] = value;
    else if (fate === 'dropped') noteDropped(dropped, key);
    else throw unsupported(key, fate.refused);
  }
  return kept;
}

export function refused(why: string): Fate {
  return { refused: why };
}

/** Values that ask for nothing are dropped. */
export function refusedIf(isAsking: (value: unknown) => boolean, why: string): Rule {
  return (value) => (isAsking(value) ? { refused: why } : 'dropped');
}

export function droppedIf(isUnknown: (context: TranslationContext) => boolean): Rule {
  return (_value, context) => (isUnknown(context) ? 'dropped' : 'kept');
}

export function isNotOpenAi({ host }: TranslationContext): boolean {
  return host !== 'openai';
}
