import type { Dialect } from '../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../dialects/json-document.ts';
import { parseStrictJson } from '../dialects/strict-json.ts';
import { isTextType, readBase64, readDataUrl, unescapeJson } from './encoded.ts';
import { createKeyReader, type KeyReader, keyKinds } from './key-names.ts';
import { everyRole, roleBits } from './roles.ts';

/** Where a text stands: an entry of the request, or of a document that stands in a text of it. */
export interface Place {
  readonly document: JsonDocument;
  readonly entry: number;
  /** The text of the request that this document was read from. */
  readonly outer?: Place;
  /** Set where the bytes had to be decoded in a way that can't be undone in place. */
  readonly isDecoded?: true;
}

/** One text of a request. */
export interface Piece {
  readonly place: Place;
  readonly roles: number;
  /** Texts of one chain are read one after the other by people and models, so they are joined. */
  readonly chain: string | undefined;
}

export type UnseenKind = 'opaque' | 'reference' | 'encrypted';

export interface Visitor {
  text(piece: Piece): void;
  /** Content that can't be looked into. */
  unseen(kind: UnseenKind, place: Place): void;
  /** Numbers where text belongs. */
  unreadable(place: Place, roles: number): void;
}

export interface Walk {
  /** Visits every string, key and number of a request, whatever its fields are called. */
  request(document: JsonDocument, dialect: Dialect, visitor: Visitor): void;
  /** The same for an answer, or for anything else without roles. */
  document(document: JsonDocument, roles: number, visitor: Visitor): void;
}

const nestingLimit = 4;
const proseChain = 'prose';
const encryptedNames = new Set(['encrypted_content', 'encrypted_index', 'encrypted_stdout']);
const referenceNames = new Set(['file_id', 'file_ids', 'vector_store_ids', 'previous_response_id']);
const topReferenceNames = new Set(['conversation', 'prompt', 'container']);
const urlNames = new Set(['image_url', 'file_url', 'server_url']);

export function createWalk(): Walk {
  const readKey = createKeyReader();
  return {
    request: (document, dialect, visitor) => new Walker(visitor, readKey, dialect).request(document),
    document: (document, roles, visitor) => {
      const walker = new Walker(visitor, readKey, undefined);
      walker.value({ document, entry: document.root }, { roles, chain: undefined, isData: true });
    },
  };
}

/** What is known of a value from where it stands. */
interface Context {
  readonly roles: number;
  readonly chain: string | undefined;
  /** Plain data, such as a tool's arguments: nothing in it is a block of the dialect. */
  readonly isData: boolean;
}

class Walker {
  readonly #visitor: Visitor;
  readonly #readKey: KeyReader;
  readonly #dialect: Dialect | undefined;
  #nesting = 0;

  constructor(visitor: Visitor, readKey: KeyReader, dialect: Dialect | undefined) {
    this.#visitor = visitor;
    this.#readKey = readKey;
    this.#dialect = dialect;
  }

  request(document: JsonDocument): void {
    const places = this.#dialect?.places ?? {};
    for (let key = document.root + 1; key < document.next(document.root); key = document.next(key + 1)) {
      const name = document.text(key);
      const place = Object.hasOwn(places, name) ? places[name] : undefined;
      const at: Place = { document, entry: key + 1 };
      this.#visitor.text({ place: { document, entry: key }, roles: everyRole, chain: undefined });
      if (topReferenceNames.has(name) && document.kind(key + 1) !== kinds.null) {
        this.#visitor.unseen('reference', at);
      }
      if (place === 'turns') this.#turns(at);
      else if (place === undefined)
        this.#member(at, name, { roles: everyRole, chain: undefined, isData: false });
      else this.#spoken(at, roleBits[place], place === 'tool_definition');
    }
  }

  value(place: Place, context: Context): void {
    const { document, entry } = place;
    switch (document.kind(entry)) {
      case kinds.string:
        return this.#string(place, context);
      case kinds.number:
        return this.#number(place, context);
      case kinds.array:
        for (let at = entry + 1; at < document.next(entry); at = document.next(at)) {
          this.value(inside(place, at), context);
        }
        return;
      case kinds.object:
        return this.#object(place, context);
      default:
    }
  }

  /** The conversation: each element a turn with its own role. */
  #turns(place: Place): void {
    const { document, entry } = place;
    if (document.kind(entry) !== kinds.array) return this.#spoken(place, roleBits.user, false);
    this.#refuseNumbers(place, everyRole);
    for (let turn = entry + 1; turn < document.next(entry); turn = document.next(turn)) {
      const role = this.#dialect?.turnRole(document, turn);
      const roles = role === undefined ? everyRole : roleBits[role];
      const content = document.member(turn, 'content');
      if (content !== undefined) this.#refuseNumbers(inside(place, content), roles);
      this.value(inside(place, turn), { roles, chain: proseChain, isData: false });
    }
  }

  /** A field of one role: a text, or texts in whatever form. */
  #spoken(place: Place, roles: number, isDefinition: boolean): void {
    if (!isDefinition) this.#refuseNumbers(place, roles);
    this.value(place, { roles, chain: isDefinition ? undefined : proseChain, isData: false });
  }

  #object(place: Place, context: Context): void {
    const { document, entry } = place;
    const inner = this.#blockContext(place, context);
    for (let key = entry + 1; key < document.next(entry); key = document.next(key + 1)) {
      const start = document.start(key);
      const end = document.end(key);
      this.#visitor.text({ place: inside(place, key), roles: inner.roles, chain: undefined });
      const kind = this.#readKey(document.bytes, start, end);
      const value = inside(place, key + 1);
      if (kind === keyKinds.label) this.value(value, { ...inner, chain: undefined });
      else if (kind === keyKinds.prose) this.#prose(value, inner, start);
      else this.#member(value, document.text(key), inner);
    }
    if (!context.isData) this.#source(place);
  }

  #prose(value: Place, context: Context, keyStart: number): void {
    // A call's input is data of the tool, not blocks of the dialect.
    const isInput = value.document.bytes[keyStart] === 0x69;
    const chain = context.chain === undefined ? undefined : proseChain;
    this.value(value, { roles: context.roles, chain, isData: context.isData || isInput });
  }

  #member(value: Place, name: string, context: Context): void {
    if (!context.isData) this.#noteReferences(value, name);
    // Members that share a name are read together only among themselves: a member put between two
    // others must not part them.
    const chain = context.chain === undefined ? undefined : `.${name}`;
    this.value(value, { ...context, chain });
  }

  #noteReferences(value: Place, name: string): void {
    const { document, entry } = value;
    const kind = document.kind(entry);
    if (kind === kinds.null) return;
    if (encryptedNames.has(name)) return this.#visitor.unseen('encrypted', value);
    if (referenceNames.has(name)) return this.#visitor.unseen('reference', value);
    if (urlNames.has(name)) {
      const url = kind === kinds.string ? document.text(entry) : document.memberText(entry, 'url');
      if (url !== undefined && !/^\s*data:/i.test(url)) this.#visitor.unseen('reference', value);
    }
  }

  /** A block inside a turn may be of another role than the turn. */
  #blockContext(place: Place, context: Context): Context {
    if (context.isData || context.chain === undefined || this.#dialect === undefined) return context;
    const type = place.document.memberText(place.entry, 'type');
    if (type === undefined) return context;
    if (type === 'redacted_thinking') this.#visitor.unseen('encrypted', place);
    if (type === 'item_reference') this.#visitor.unseen('reference', place);
    const role = this.#dialect.blockRole(type);
    return role === undefined ? context : { ...context, roles: roleBits[role] };
  }

  /** An object that carries bytes: `{ media_type, data }`, or audio as `{ format, data }`. */
  #source(place: Place): void {
    const { document, entry } = place;
    if (document.memberText(entry, 'type') === 'url' && document.memberText(entry, 'url') !== undefined) {
      return this.#visitor.unseen('reference', place);
    }
    const data = document.member(entry, 'data');
    if (data === undefined || document.kind(data) !== kinds.string) return;
    const type = document.memberText(entry, 'type');
    const mediaType = document.memberText(entry, 'media_type') ?? document.memberText(entry, 'mime_type');
    if (mediaType === undefined) {
      if (type === 'base64' || document.member(entry, 'format') !== undefined)
        this.#visitor.unseen('opaque', place);
      return;
    }
    if (type === 'text') return;
    if (!isTextType(mediaType)) return this.#visitor.unseen('opaque', place);
    const found = readBase64(document.text(data));
    if (found.kind === 'texts') this.#decoded(found.texts, inside(place, data));
  }

  #string(place: Place, context: Context): void {
    this.#visitor.text({ place, roles: context.roles, chain: context.chain });
    const { document, entry } = place;
    const first = document.bytes[document.start(entry)] as number;
    if (mayBeDataUrl(first)) this.#dataUrl(place, context);
    if (document.isEscaped(entry) && mayBeJson(first)) this.#nested(place, context);
  }

  #dataUrl(place: Place, context: Context): void {
    const { document, entry } = place;
    const start = document.start(entry);
    const head = document.bytes.toString('latin1', start, Math.min(start + 64, document.end(entry)));
    if (!/^(?:\s|\\[nrtu0-9a-f])*data:|\\u/i.test(head)) return;
    const found = readDataUrl(document.text(entry));
    if (found === undefined) return;
    if (found.kind === 'opaque') this.#visitor.unseen('opaque', place);
    else this.#decoded(found.texts, place, context.roles);
  }

  #decoded(texts: readonly string[], outer: Place, roles = everyRole): void {
    if (this.#nesting === nestingLimit) return this.#visitor.unseen('opaque', outer);
    this.#nesting += 1;
    for (const text of texts) {
      const document = wrap(text);
      const place: Place = { document, entry: 2, outer, isDecoded: true };
      this.value(place, { roles, chain: undefined, isData: true });
    }
    this.#nesting -= 1;
  }

  /** A text that is JSON itself, such as a call's arguments. */
  #nested(outer: Place, context: Context): void {
    const text = outer.document.text(outer.entry);
    const isEscaped = text.includes('\\');
    if (!/^\s*[[{"]/.test(text) || !(isEscaped || /[\]}]\s*$/.test(text.slice(-64)))) return;
    if (this.#nesting === nestingLimit) return this.#visitor.unseen('opaque', outer);
    this.#nesting += 1;
    const document = parseNested(text);
    if (document !== undefined) {
      this.value({ document, entry: 2, outer }, { ...context, chain: undefined, isData: true });
    } else if (isEscaped) {
      const place: Place = { document: wrap(unescapeJson(text)), entry: 2, outer, isDecoded: true };
      this.value(place, { ...context, chain: undefined, isData: true });
    }
    this.#nesting -= 1;
  }

  #number(place: Place, context: Context): void {
    this.#visitor.text({ place, roles: context.roles, chain: context.chain });
    const { document, entry } = place;
    const raw = document.raw(entry);
    if (!/[.eE]/.test(raw)) return;
    const value = Number(raw);
    // 4.111111111111111e15 is a card number too.
    if (!Number.isInteger(value) || Math.abs(value) < 1e6 || Math.abs(value) > 1e30) return;
    this.#decoded([String(BigInt(value))], place, context.roles);
  }

  /** Token ids in place of text can't be read. */
  #refuseNumbers(place: Place, roles: number): void {
    const { document, entry } = place;
    if (document.kind(entry) === kinds.number) return this.#visitor.unreadable(place, roles);
    if (document.kind(entry) !== kinds.array) return;
    for (let at = entry + 1; at < document.next(entry); at = document.next(at)) {
      const isNumber = document.kind(at) === kinds.number;
      const holdsNumber = document.kind(at) === kinds.array && document.kind(at + 1) === kinds.number;
      if (isNumber || (holdsNumber && document.next(at) > at + 1)) {
        return this.#visitor.unreadable(inside(place, at), roles);
      }
    }
  }
}

function inside(place: Place, entry: number): Place {
  if (place.outer === undefined) return { document: place.document, entry };
  const { document, outer } = place;
  return place.isDecoded === true ? { document, entry, outer, isDecoded: true } : { document, entry, outer };
}

function mayBeDataUrl(first: number): boolean {
  return first === 0x64 || first === 0x44 || first === 0x5c || first === 0x20;
}

function mayBeJson(first: number): boolean {
  return first === 0x7b || first === 0x5b || first === 0x5c || first === 0x20;
}

/** A text as the only member of a document. */
function wrap(text: string): JsonDocument {
  return parseStrictJson(Buffer.from(`{"":${JSON.stringify(text)}}`));
}

function parseNested(text: string): JsonDocument | undefined {
  try {
    const document = parseStrictJson(Buffer.from(`{"":${text}}`));
    // A text such as `1,"b":2` would read as two members.
    return document.next(2) === document.count ? document : undefined;
  } catch {
    // Not JSON, or not strict: read as text by its escapes instead.
    return undefined;
  }
}

/** The text at a place. */
export function textOf({ document, entry }: Place): string {
  return document.isEscaped(entry) ? document.text(entry) : document.raw(entry);
}

/** The place in the request itself that holds this one. */
export function placeInRequest(place: Place): Place {
  let at = place;
  while (at.outer !== undefined) at = at.outer;
  return at;
}
