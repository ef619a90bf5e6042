import type { Role } from '../../dialects/dialect.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import { type Place, roleBits } from './place.ts';
import type { UnseenKind } from './unseen.ts';

/** Whether texts are part of the conversation's sequence: not at all, always, or only for some readers. */
export const joins = { none: 0, required: 1, optional: 2 } as const;
type Joins = (typeof joins)[keyof typeof joins];

interface ContextParts {
  readonly roles: number;
  readonly conversation: Joins;
  readonly own?: string | undefined;
  readonly isData: boolean;
  readonly isUnlisted?: boolean | undefined;
  readonly origin?: Origin | undefined;
}

/** Where a document comes from that isn't the request itself. */
interface Origin {
  readonly outer: Place;
  readonly isDecoded: boolean;
  /** Set if only escapes were decoded. */
  readonly isUnescaped?: true;
}

/** Roles whose texts some hosts move or leave out. */
const movable = roleBits.system | roleBits.tool_result | roleBits.tool_definition;

/** What a value's position says about it. Its variants are created once: a body has thousands of values. */
export class Context {
  readonly roles: number;
  readonly conversation: Joins;
  /** The sequence of its like. */
  readonly own: string | undefined;
  /** Plain data, such as a tool's arguments: nothing in it is a block of the dialect. */
  readonly isData: boolean;
  /** Whether it is in a member of the request of which nobody knows whether a host shows it to the model. */
  readonly isUnlisted: boolean;
  readonly origin: Origin | undefined;
  /** Whether its texts are read together with any others. */
  readonly isJoined: boolean;
  /** If some hosts leave its texts out: the name of everything that they leave out with it. */
  readonly leftOut: string | undefined;
  #apart: Context | undefined;
  #variants: Map<string | number, Context> | undefined;

  constructor({ roles, conversation, own, isData, isUnlisted = false, origin }: ContextParts) {
    this.roles = roles;
    this.conversation = conversation;
    this.own = own;
    this.isData = isData;
    this.isUnlisted = isUnlisted;
    this.origin = origin;
    this.isJoined = conversation !== joins.none || own !== undefined;
    this.leftOut = conversation === joins.optional ? (own ?? `${roles} ${isData}`) : undefined;
  }

  /** The same for what is never read together with what came before. */
  apart(): Context {
    if (!this.isJoined) return this;
    // Not in the table, because it is needed for each key.
    this.#apart ??= new Context({ ...this.#parts(), conversation: joins.none, own: undefined });
    return this.#apart;
  }

  /** The same for data inside a block. */
  data(): Context {
    if (this.isData) return this;
    return this.#variant('data', () => {
      const conversation = this.conversation === joins.none ? joins.none : joins.optional;
      return { ...this.#parts(), conversation, isData: true };
    });
  }

  /** The same for what is always part of the conversation. */
  required(): Context {
    if (this.conversation === joins.required && this.own === undefined) return this;
    return this.#variant('required', () => ({
      ...this.#parts(),
      conversation: joins.required,
      own: undefined,
    }));
  }

  /** The same for what only some hosts render; if it has a name, all of that name form a sequence as well. */
  optional(own: string | undefined): Context {
    if (this.conversation === joins.none) return own === undefined ? this : this.alone(own);
    if (this.conversation === joins.optional && this.own === own) return this;
    const key = own ?? 'optional';
    return this.#variant(key, () => ({ ...this.#parts(), conversation: joins.optional, own }));
  }

  /** The same for what is read together only with its like. */
  alone(own: string): Context {
    if (this.conversation === joins.none && this.own === own) return this;
    return this.#variant(`alone ${own}`, () => ({ ...this.#parts(), conversation: joins.none, own }));
  }

  as(roles: number): Context {
    if (roles === this.roles) return this;
    return this.#variant(roles, () => {
      const isMovable = this.conversation !== joins.none && (roles & movable) === roles;
      if (!isMovable) return { ...this.#parts(), roles };
      // Hosts gather the system's texts from anywhere.
      const own = roles === roleBits.system ? 'system' : undefined;
      return { ...this.#parts(), roles, conversation: joins.optional, own };
    });
  }

  /** The same for a document parsed from a text here, which readers also see as plain text. */
  within(origin: Origin): Context {
    return new Context({ roles: this.roles, conversation: joins.none, isData: true, origin });
  }

  /** The same for a document that readers see decoded instead of the original. */
  inPlace(origin: Origin): Context {
    return new Context({ ...this.#parts(), isData: true, origin });
  }

  place(document: JsonDocument, entry: number): Place {
    if (this.origin === undefined) return { document, entry };
    const { outer, isDecoded, isUnescaped } = this.origin;
    if (isUnescaped === true) return { document, entry, outer, isDecoded: true, isUnescaped };
    return isDecoded ? { document, entry, outer, isDecoded: true } : { document, entry, outer };
  }

  #parts(): ContextParts {
    const { roles, conversation, own, isData, isUnlisted, origin } = this;
    return { roles, conversation, own, isData, isUnlisted, origin };
  }

  /** Most contexts of texts that are JSON have no variants. */
  #variant(key: string | number, make: () => ContextParts): Context {
    this.#variants ??= new Map();
    let variant = this.#variants.get(key);
    if (variant === undefined) {
      variant = new Context(make());
      this.#variants.set(key, variant);
    }
    return variant;
  }
}

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
