import type { Dialect } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { type Decoded, holdsBinary, isDataUrl, readBase64, readDataUrl, readProseUrl } from './encoded.ts';
import {
  beginsLikeJson,
  endsLikeJson,
  mayBeDataUrl,
  mayBeJson,
  parseNested,
  unescapeJson,
} from './nested.ts';
import { findNumber, readDigits } from './numbers.ts';
import { type Place, wrapText } from './place.ts';
import {
  answerMemberContext,
  isInOrder,
  type MemberKindReader,
  memberContext,
  memberKinds,
  rankOf,
} from './reading-order.ts';
import { everyRole, roleBits } from './roles.ts';
import { readSource } from './source.ts';
import { isBareReference, type UnseenKind, unseenBlock, unseenMember } from './unseen.ts';
import type { Visitor } from './visitor.ts';
import type { Context } from './walk-context.ts';

const nestingLimit = 4;
/** Shorter texts hold no picture. */
const shortestBinary = 64;

interface ValueWalkParts {
  readonly visitor: Visitor;
  readonly readKind: MemberKindReader;
  /** Of requests only. */
  readonly dialect?: Dialect;
  /** The list of an answer whose elements nobody reads together. */
  readonly choices?: number | undefined;
}

/** Everything below a field: blocks of the dialect and plain data, and the texts inside texts. */
export class ValueWalk {
  readonly #visitor: Visitor;
  readonly #readKind: MemberKindReader;
  readonly #dialect: Dialect | undefined;
  readonly #choices: number | undefined;
  #nesting = 0;
  /** Whether the next list is one of blocks of the turn itself. */
  #isAtTurn = false;
  /** The last entry that was reported as unseen: one object may be so for two reasons. */
  #unseenEntry = -1;

  constructor({ visitor, readKind, dialect, choices }: ValueWalkParts) {
    this.#visitor = visitor;
    this.#readKind = readKind;
    this.#dialect = dialect;
    this.#choices = choices;
  }

  /** A field of the request that is no part of the conversation. */
  field(document: JsonDocument, key: number, context: Context): void {
    const kind = this.#readKind(document, key);
    if (kind === memberKinds.reference) this.#reference(document, key, context);
    this.value(document, key + 1, context);
  }

  /** A field of one role: a text, or texts in whatever form. */
  section(document: JsonDocument, entry: number, context: Context): void {
    this.refuseNumbers(document, entry, context);
    this.#visitor.block(entry);
    this.#isAtTurn = true;
    this.value(document, entry, context);
    this.#isAtTurn = false;
  }

  turn(document: JsonDocument, entry: number, context: Context): void {
    this.#visitor.block(entry);
    this.#isAtTurn = true;
    if (document.kind(entry) === kinds.object) {
      this.#noteUnseen(document, entry, context);
      this.#members(document, entry, context);
    } else this.value(document, entry, context);
    this.#isAtTurn = false;
  }

  value(document: JsonDocument, entry: number, context: Context): void {
    switch (document.kind(entry)) {
      case kinds.string:
        return this.#string(document, entry, context);
      case kinds.number:
        return this.#number(document, entry, context);
      case kinds.array:
        return this.#list(document, entry, context);
      case kinds.object:
        return this.#members(document, entry, this.#blockContext(document, entry, context));
      default:
    }
  }

  /** Token ids in place of text can't be read. */
  refuseNumbers(document: JsonDocument, entry: number, context: Context): void {
    const at = findNumber(document, entry);
    if (at !== undefined) this.#visitor.unreadable(context.place(document, at), context.roles);
  }

  #list(document: JsonDocument, entry: number, context: Context): void {
    const isOfTurn = this.#isAtTurn && context.origin === undefined;
    if (isOfTurn) this.#isAtTurn = false;
    const end = document.next(entry);
    for (let at = entry + 1; at < end; at = document.next(at)) {
      if (isOfTurn) this.#visitor.block(at);
      if (document.kind(at) === kinds.object) {
        this.#members(document, at, this.#elementContext(document, at, context));
      } else this.value(document, at, context);
      if (entry === this.#choices && context.origin === undefined) this.#visitor.part();
    }
    if (isOfTurn) this.#isAtTurn = true;
  }

  /** In a list of blocks, one without a type could be anything. */
  #elementContext(document: JsonDocument, entry: number, context: Context): Context {
    const block = this.#blockContext(document, entry, context);
    if (block !== context || !this.#isBlock(context)) return block;
    return document.member(entry, 'type') === undefined ? context.as(everyRole) : block;
  }

  /** A block inside a turn may be of another role than the turn; one of an unknown type is of every role. */
  #blockContext(document: JsonDocument, entry: number, context: Context): Context {
    if (!this.#isBlock(context) || this.#dialect === undefined) return context;
    this.#noteUnseen(document, entry, context);
    if (document.member(entry, 'type') === undefined) return context;
    const role = this.#dialect.blocks.get(document.memberText(entry, 'type') ?? '');
    if (role === 'outer') return context;
    return context.as(role === undefined ? everyRole : roleBits[role]);
  }

  #isBlock(context: Context): boolean {
    return this.#dialect !== undefined && context.isJoined && !context.isData;
  }

  /** What a whole block stands for, where that can't be seen. */
  #noteUnseen(document: JsonDocument, entry: number, context: Context): void {
    const unseen =
      unseenBlock(document, entry, document.memberText(entry, 'type')) ??
      (isBareReference(document, entry) ? 'reference' : undefined);
    if (unseen !== undefined) this.#unseen(unseen, context.place(document, entry));
  }

  #unseen(kind: UnseenKind, place: Place): void {
    if (place.outer === undefined && place.entry === this.#unseenEntry) return;
    if (place.outer === undefined) this.#unseenEntry = place.entry;
    this.#visitor.unseen(kind, place);
  }

  #members(document: JsonDocument, entry: number, block: Context): void {
    const next = document.next(entry);
    if (block.isJoined && !block.isData && !isInOrder(document, entry, this.#readKind)) {
      for (let rank = 0; rank <= 2; rank += 1) {
        for (let key = entry + 1; key < next; key = document.next(key + 1)) {
          if (rankOf(this.#readKind(document, key)) === rank) this.#member(document, entry, { key, block });
        }
      }
      return this.#source(document, entry, block);
    }
    let mayHoldBytes = false;
    for (let key = entry + 1; key < next; key = document.next(key + 1)) {
      if (this.#member(document, entry, { key, block })) mayHoldBytes = true;
    }
    if (mayHoldBytes) this.#source(document, entry, block);
  }

  /** Returns whether it is a sign that its object carries bytes. */
  #member(document: JsonDocument, object: number, { key, block }: { key: number; block: Context }): boolean {
    const value = key + 1;
    const kind = this.#readKind(document, key);
    this.#visitor.text(document, key, block.apart());
    const member = { kind, document, object, key };
    const context =
      this.#dialect === undefined ? answerMemberContext(member, block) : memberContext(member, block);
    if (block.isData) {
      this.value(document, value, context);
      return false;
    }
    switch (kind) {
      case memberKinds.prose:
      case memberKinds.trailing:
      case memberKinds.heading:
        this.refuseNumbers(document, value, block);
        break;
      case memberKinds.reference:
      case memberKinds.bytes:
        if (kind === memberKinds.reference) this.#reference(document, key, block);
        if (document.kind(value) === kinds.string) {
          this.#visitor.text(document, value, context);
          this.#located(document, key, block);
          return kind === memberKinds.bytes;
        }
        break;
      case memberKinds.other:
        this.#noteBinary(document, value, block);
        break;
      default:
    }
    this.value(document, value, context);
    return kind === memberKinds.bytes;
  }

  /** A member of no known name may be a picture all the same. */
  #noteBinary(document: JsonDocument, value: number, block: Context): void {
    if (!block.isJoined || document.kind(value) !== kinds.string) return;
    if (document.end(value) - document.start(value) < shortestBinary) return;
    if (holdsBinary(document.raw(value))) this.#unseen('opaque', block.place(document, value));
  }

  #reference(document: JsonDocument, key: number, block: Context): void {
    const unseen = unseenMember(document, document.text(key), key + 1);
    if (unseen !== undefined) this.#unseen(unseen, block.place(document, key + 1));
  }

  /** A text where a URL or bytes belong: a data URL is read, and so is what a file's data hold. */
  #located(document: JsonDocument, key: number, block: Context): void {
    const value = key + 1;
    const text = document.text(value);
    const name = document.text(key);
    const decoded =
      name === 'file_data' && !isDataUrl(text) ? readBase64(text, undefined) : readDataUrl(text);
    if (decoded !== undefined) this.#readDecoded(decoded, block.place(document, value), block);
  }

  /** An object that carries bytes. */
  #source(document: JsonDocument, object: number, block: Context): void {
    const source = readSource(document, object, block.isJoined);
    if (source === undefined) return;
    if (source.unseen !== undefined) this.#unseen(source.unseen, block.place(document, object));
    this.#decoded(source.texts, block.place(document, source.data), block);
  }

  #string(document: JsonDocument, entry: number, context: Context): void {
    this.#visitor.text(document, entry, context);
    const start = document.start(entry);
    const end = document.end(entry);
    if (start === end) return;
    if (mayBeDataUrl(document, start, end)) this.#proseUrl(document, entry, context);
    if (document.isEscaped(entry) && mayBeJson(document.bytes[start] as number)) {
      this.#nested(document, entry, context);
    }
  }

  #proseUrl(document: JsonDocument, entry: number, context: Context): void {
    const decoded = readProseUrl(document.text(entry));
    if (decoded !== undefined) this.#readDecoded(decoded, context.place(document, entry), context.apart());
  }

  #readDecoded({ texts, isOpaque }: Decoded, outer: Place, context: Context): void {
    if (isOpaque) this.#unseen('opaque', outer);
    this.#decoded(texts, outer, context);
  }

  #decoded(texts: readonly string[], outer: Place, context: Context): void {
    if (texts.length === 0) return;
    if (this.#nesting === nestingLimit) return this.#unseen('opaque', outer);
    this.#nesting += 1;
    const inPlace = context.inPlace({ outer, isDecoded: true });
    // Of several readings a reader has one.
    const within = texts.length > 1 ? inPlace.optional('.decoded') : inPlace;
    for (const text of texts) this.value(wrapText(text), 2, within);
    this.#nesting -= 1;
  }

  /** A text that is JSON itself, such as a call's arguments. */
  #nested(document: JsonDocument, entry: number, context: Context): void {
    const text = document.text(entry);
    const isEscaped = text.includes('\\');
    if (!beginsLikeJson(text) || !(isEscaped || endsLikeJson(text))) return;
    const outer = context.place(document, entry);
    if (this.#nesting === nestingLimit) return this.#unseen('opaque', outer);
    this.#nesting += 1;
    const inner = parseNested(text, document);
    const within = context.within({ outer, isDecoded: inner === undefined });
    if (inner !== undefined) this.value(inner, 2, within);
    else if (isEscaped) this.value(wrapText(unescapeJson(text)), 2, within);
    this.#nesting -= 1;
  }

  #number(document: JsonDocument, entry: number, context: Context): void {
    // Numbers that follow each other are no split text; joined they would look like cards and the like.
    this.#visitor.text(document, entry, context.apart());
    const digits = readDigits(document, entry);
    if (digits === undefined) return;
    this.#decoded([digits], context.place(document, entry), context.apart());
  }
}
