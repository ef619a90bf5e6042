import type { TranslationContext } from './quirks.ts';

export type TextDialect = 'messages' | 'chat' | 'responses';

export interface FieldFate {
  /** The field's path in the client's request; `[]` stands for any element. */
  readonly field: string;
  /**
   * Carried: same name and meaning. Renamed: another name, form or place. Dropped: left out. Refused: a 400
   * with `param`. Answered: the gateway acts on it itself.
   */
  readonly fate: 'carried' | 'renamed' | 'dropped' | 'refused' | 'answered';
  /** Where it is found in the provider's request. */
  readonly to?: string;
  /** In words, when this row counts; the first row that applies does. */
  readonly when?: string;
  /** The same as code, for top-level fields. */
  readonly applies?: (value: unknown, context: TranslationContext) => boolean;
  readonly note?: string;
}

type Extra = Pick<FieldFate, 'when' | 'applies' | 'note'>;

export function carried(field: string, extra: Extra = {}): FieldFate {
  return { field, fate: 'carried', to: field, ...extra };
}

export function renamed(field: string, to: string, extra: Extra = {}): FieldFate {
  return { field, fate: 'renamed', to, ...extra };
}

export function dropped(field: string, extra: Extra = {}): FieldFate {
  return { field, fate: 'dropped', ...extra };
}

export function refused(field: string, note: string, extra: Extra = {}): FieldFate {
  return { field, fate: 'refused', note, ...extra };
}

export function answered(field: string, note: string): FieldFate {
  return { field, fate: 'answered', note };
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
