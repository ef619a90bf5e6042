import { chatFates } from './chat/field-mappings.ts';
import { messagesFates } from './messages/field-mappings.ts';
import { responsesFates } from './responses/field-mappings.ts';
import { type Dropped, noteDropped } from './translation/dropped.ts';
import { type FieldFate, headOf, type TextDialect } from './translation/field-mapping.ts';
import { type Fields, unsupported } from './translation/fields.ts';
import type { TranslationContext } from './translation/quirks.ts';

/** Every field's fate on the way from the client's dialect to the provider's; `docs/translation.md` is made of it. */
export const fates: Readonly<
  Record<TextDialect, Readonly<Partial<Record<TextDialect, readonly FieldFate[]>>>>
> = { messages: messagesFates, chat: chatFates, responses: responsesFates };

type Rows = ReadonlyMap<string, readonly FieldFate[]>;

const byHead: Readonly<Record<TextDialect, Readonly<Partial<Record<TextDialect, Rows>>>>> = {
  messages: { chat: indexByHead(messagesFates.chat), responses: indexByHead(messagesFates.responses) },
  chat: { messages: indexByHead(chatFates.messages), responses: indexByHead(chatFates.responses) },
  responses: { chat: indexByHead(responsesFates.chat), messages: indexByHead(responsesFates.messages) },
};

/** The rows of one direction by the top-level field that they are about; undefined where nothing is translated. */
export function fatesOf(client: TextDialect, provider: TextDialect): Rows | undefined {
  return byHead[client][provider];
}

function indexByHead(rows: readonly FieldFate[]): Rows {
  const index = new Map<string, FieldFate[]>();
  for (const row of rows) {
    const head = headOf(row.field);
    const known = index.get(head);
    if (known === undefined) index.set(head, [row]);
    else known.push(row);
  }
  return index;
}

/**
 * Applies the fates of top-level fields: refuses what must be refused, and returns the body without what is
 * dropped. A field that the table does not know is dropped.
 */
export function settleFields(
  body: Fields,
  rows: Rows,
  context: TranslationContext,
  dropped: Dropped,
): Fields {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    const own = rows.get(key);
    const row = own?.find((each) => each.field === key && (each.applies?.(value, context) ?? true));
    if (row?.fate === 'refused') throw unsupported(key, row.note ?? 'can not be carried over');
    if (own === undefined || row?.fate === 'dropped') noteDropped(dropped, key);
    else kept[key] = value;
  }
  return kept;
}
