import type { Role } from '../../dialects/dialect.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import type { Place } from './place.ts';
import type { UnseenKind } from './unseen.ts';
import type { Context } from './walk-context.ts';

/** Is notified of everything in a document, in the order in which the model reads it. */
export interface Visitor {
  /** A string, a key or a number. */
  text(document: JsonDocument, entry: number, context: Context): void;
  /** Content that can't be read. */
  unseen(kind: UnseenKind, place: Place): void;
  /** Numbers where text belongs. */
  unreadable(place: Place, roles: number): void;
  /** A turn of the conversation begins. */
  turn(entry: number, role: Role | undefined): void;
  /** What follows belongs to another block of the turn; some hosts put markup between them. */
  block(entry: number): void;
  /** What follows is never read together with what came before. */
  part(): void;
}
