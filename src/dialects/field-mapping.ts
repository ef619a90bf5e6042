import { type Dropped, type Fields, noteDropped, unsupported } from './fields.ts';
import type { TranslationContext } from './translation/model-quirks.ts';

/** What happens to one field of a request on its way to a provider of another dialect. */
export interface FieldMapping {
  /** The field's path in the client's request; `[]` stands for any element. */
  readonly field: string;
  /**
   * Carried: same name and meaning. Renamed: another name, form or place. Dropped: left out. Refused: a 400
   * with `param`. Answered: the gateway acts on it itself.
   */
  readonly kind: 'carried' | 'renamed' | 'dropped' | 'refused' | 'answered';
  /** Where it is found in the provider's request. */
  readonly to?: string;
  /** In words, when this row applies; the first row that does is used. */
  readonly when?: string;
  /** The same as code, for top-level fields. */
  readonly applies?: (value: unknown, context: TranslationContext) => boolean;
  readonly note?: string;
}

/** The mappings of one direction. */
export interface FieldTable {
  readonly rows: readonly FieldMapping[];
  /** The rows by the top-level field that they are about. */
  readonly byHead: ReadonlyMap<string, readonly FieldMapping[]>;
}

export function fieldTable(...rows: readonly (readonly FieldMapping[])[]): FieldTable {
  const all = rows.flat();
  const byHead = new Map<string, FieldMapping[]>();
  for (const row of all) {
    const head = headOf(row.field);
    const known = byHead.get(head);
    if (known === undefined) byHead.set(head, [row]);
    else known.push(row);
  }
  return { rows: all, byHead };
}

/**
 * Applies the mappings of top-level fields: refuses what must be refused, and returns the body without what is
 * dropped. A field that the table does not know is dropped.
 */
export function applyMappings(
  body: Fields,
  { byHead }: FieldTable,
  context: TranslationContext,
  dropped: Dropped,
): Fields {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    const own = byHead.get(key);
    const row = own?.find((each) => each.field === key && (each.applies?.(value, context) ?? true));
    if (row?.kind === 'refused') throw unsupported(key, row.note ?? 'cannot be translated');
    if (own === undefined || row?.kind === 'dropped') noteDropped(dropped, key);
    else kept[key] = value;
  }
  return kept;
}

type Extra = Pick<FieldMapping, 'when' | 'applies' | 'note'>;

export function carried(field: string, extra: Extra = {}): FieldMapping {
  return { field, kind: 'carried', to: field, ...extra };
}

export function renamed(field: string, to: string, extra: Extra = {}): FieldMapping {
  return { field, kind: 'renamed', to, ...extra };
}

export function dropped(field: string, extra: Extra = {}): FieldMapping {
  return { field, kind: 'dropped', ...extra };
}

export function refused(field: string, note: string, extra: Extra = {}): FieldMapping {
  return { field, kind: 'refused', note, ...extra };
}

export function answered(field: string, note: string): FieldMapping {
  return { field, kind: 'answered', note };
}

/** The top-level field that a path begins with. */
export function headOf(field: string): string {
  return field.split(/[.[]/, 1)[0] ?? field;
}

export const notOpenAi: Extra = {
  when: 'the provider is not OpenAI',
  applies: (_value, { host }) => host !== 'openai',
};

export const openAi: Extra = {
  when: 'the provider is OpenAI',
  applies: (_value, { host }) => host === 'openai',
};

export const isSet: Extra = {
  when: 'not empty',
  applies: (value) => (Array.isArray(value) ? value.length > 0 : value !== ''),
};

export const isOn: Extra = { when: 'true', applies: (value) => value === true };
