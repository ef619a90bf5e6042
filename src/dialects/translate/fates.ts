import type { Dropped } from './dropped.ts';
import { type FieldFate, headOf, type TextDialect } from './fate.ts';
import { chatFates } from './fates-chat.ts';
import { messagesFates } from './fates-messages.ts';
import { responsesFates } from './fates-responses.ts';
import { type Fields, unsupported } from './fields.ts';
import type { TranslationContext } from './quirks.ts';

/** Every field's fate on the way from the client's dialect to the provider's; `docs/translation.md` is made of it. */
export const fates: Readonly<
  Record<TextDialect, Readonly<Partial<Record<TextDialect, readonly FieldFate[]>>>>
> = { messages: messagesFates, chat: chatFates, responses: responsesFates };

/**
 * Applies the fates of top-level fields: refuses what must be refused, and returns the body without what is
 * dropped. A field that the table does not know is dropped.
 */
export function settleFields(
  body: Fields,
  rows: readonly FieldFate[],
  context: TranslationContext,
  dropped: Dropped,
): Fields {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    const own = rows.filter((row) => headOf(row.field) === key);
    const row = own.find((each) => each.field === key && (each.applies?.(value, context) ?? true));
    if (row?.fate === 'refused') throw unsupported(key, row.note ?? 'can not be carried over');
    if (own.length === 0 || row?.fate === 'dropped') dropped.add(key);
    else kept[key] = value;
  }
  return kept;
}
