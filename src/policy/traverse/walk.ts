import { type Dialect, fieldOf } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { isTextType, readBareBase64, readBase64, readDataUrl, readDigits, unescapeJson } from './encoded.ts';
import { createKeyReader, type KeyReader, keyKinds } from './key-names.ts';
import { beginsLikeJson, endsLikeJson, mayBeDataUrl, mayBeJson, parseNested } from './nested.ts';
import { type Place, wrapText } from './place.ts';
import { everyRole, roleBits } from './roles.ts';
import { findNumber } from './unreadable.ts';
import { isTopReference, unseenBlock, unseenMember } from './unseen.ts';
import { Context } from './walk-context.ts';
import type { Visitor } from './walk-visitor.ts';

export interface Walk {
  /** Visits every string, key and number of a request, whatever its fields are called. */
  request(document: JsonDocument, dialect: Dialect, visitor: Visitor): void;
  /** The same from an entry on that a visitor was told as a turn, in this document or in one that begins like it. */
  resume(document: JsonDocument, dialect: Dialect, from: { turn: number; visitor: Visitor }): void;
  /** The same for an answer, or a part of one; it has no roles. The texts of each choice of a chat are apart. */
  document(document: JsonDocument, roles: number, visitor: Visitor): void;
}

const nestingLimit = 4;
const proseSequence = 'prose';
const letterI = 0x69;

export function createWalk(): Walk {
  const readKey = createKeyReader();
  return {
    request: (document, dialect, visitor) => new Walker(visitor, readKey, dialect).request(document),
    resume: (document, dialect, { turn, visitor }) =>
      new Walker(visitor, readKey, dialect).resume(document, turn),
    document: (document, roles, visitor) => {
      const context = new Context({ roles, sequence: proseSequence, isData: true });
      new Walker(visitor, readKey, undefined).answer(document, context);
    },
  };
}

class Walker {
  readonly #visitor: Visitor;
  readonly #readKey: KeyReader;
  readonly #dialect: Dialect | undefined;
  readonly #everything = new Context({ roles: everyRole, sequence: undefined, isData: false });
  readonly #spoken = new Context({ roles: everyRole, sequence: proseSequence, isData: false });
  #nesting = 0;
  #choices: number | undefined;

  constructor(visitor: Visitor, readKey: KeyReader, dialect: Dialect | undefined) {
    this.#visitor = visitor;
    this.#readKey = readKey;
    this.#dialect = dialect;
  }

  request(document: JsonDocument): void {
    // The model reads system texts before all others, wherever they stand in the body.
    const system = this.#systemKey(document);
    if (system !== undefined) this.#field(document, system);
    this.#fields(document, document.root + 1, system);
  }

  answer(document: JsonDocument, context: Context): void {
    this.#choices = document.member(document.root, 'choices');
    this.value(document, document.root, context);
  }

  /** Goes on at a turn, or behind the last. */
  resume(document: JsonDocument, turn: number): void {
    const { root } = document;
    let key = root + 1;
    while (key < document.next(root) && document.next(key + 1) <= turn) key = document.next(key + 1);
    if (key < turn) {
      this.#turnsFrom(document, key + 1, turn);
      key = document.next(key + 1);
    }
    this.#fields(document, key, this.#systemKey(document));
  }

  #systemKey(document: JsonDocument): number | undefined {
    const field = this.#dialect === undefined ? undefined : fieldOf(document, this.#dialect, 'system');
    return field === undefined ? undefined : field - 1;
  }

  /** The fields from one key on, but for one that was told already. */
  #fields(document: JsonDocument, first: number, told: number | undefined): void {
    const end = document.next(document.root);
    for (let key = first; key < end; key = document.next(key + 1)) {
      if (key !== told) this.#field(document, key);
    }
  }

  #field(document: JsonDocument, key: number): void {
    const name = document.text(key);
    const value = key + 1;
    this.#visitor.text(document, key, this.#everything);
    if (isTopReference(document, name, value)) {
      this.#visitor.unseen('reference', { document, entry: value });
    }
    const place = this.#dialect?.places.get(name);
    if (place === undefined) {
      this.#noteReferences(document, value, { name, context: this.#everything });
      return this.value(document, value, this.#everything);
    }
    if (place === 'turns') return this.#turns(document, value);
    if (place === 'tool_definition') {
      return this.value(document, value, this.#everything.as(roleBits.tool_definition));
    }
    this.#say(document, value, this.#spoken.as(roleBits[place]));
  }

  value(document: JsonDocument, entry: number, context: Context): void {
    switch (document.kind(entry)) {
      case kinds.string:
        return this.#string(document, entry, context);
      case kinds.number:
        return this.#number(document, entry, context);
      case kinds.array:
        for (let at = entry + 1; at < document.next(entry); at = document.next(at)) {
          this.value(document, at, context);
          if (entry === this.#choices && context.origin === undefined) this.#visitor.part();
        }
        return;
      case kinds.object:
        return this.#object(document, entry, context);
      default:
    }
  }

  /** The conversation: each element a turn with its own role. */
  #turns(document: JsonDocument, entry: number): void {
    // A plain text in place of turns is the user's.
    if (document.kind(entry) !== kinds.array)
      return this.#say(document, entry, this.#spoken.as(roleBits.user));
    this.#refuseNumbers(document, entry, this.#spoken);
    this.#turnsFrom(document, entry, entry + 1);
  }

  #turnsFrom(document: JsonDocument, turns: number, first: number): void {
    const end = document.next(turns);
    let left = 0;
    for (let turn = first; turn < end; turn = document.next(turn)) left += 1;
    for (let turn = first; turn < end; turn = document.next(turn)) {
      this.#visitor.turn(turn, left);
      left -= 1;
      const role = this.#dialect?.turnRole(document, turn);
      const context = role === undefined ? this.#spoken : this.#spoken.as(roleBits[role]);
      this.value(document, turn, context);
    }
    this.#visitor.turn(end, 0);
  }

  /** A field of one role: a text, or texts in whatever form. */
  #say(document: JsonDocument, entry: number, context: Context): void {
    this.#refuseNumbers(document, entry, context);
    this.value(document, entry, context);
  }

  #object(document: JsonDocument, entry: number, context: Context): void {
    const inner = this.#blockContext(document, entry, context);
    const next = document.next(entry);
    let mayHoldBytes = false;
    for (let key = entry + 1; key < next; key = document.next(key + 1)) {
      this.#visitor.text(document, key, inner.apart());
      switch (this.#readKey(document.bytes, document.start(key), document.end(key))) {
        case keyKinds.label:
          this.value(document, key + 1, inner.apart());
          break;
        case keyKinds.prose:
          this.#prose(document, key, inner);
          break;
        case keyKinds.bytes:
          mayHoldBytes = true;
          this.value(document, key + 1, inner.member(document.text(key)));
          break;
        case keyKinds.other:
          if (inner.sequence === undefined && !document.isEscaped(key)) this.value(document, key + 1, inner);
          else this.#member(document, key, inner);
          break;
        default:
          this.#member(document, key, inner);
      }
    }
    if (mayHoldBytes && !context.isData) this.#source(document, entry, inner);
  }

  #prose(document: JsonDocument, key: number, context: Context): void {
    // A call's input is data of the tool, not blocks of the dialect.
    const isInput = document.bytes[document.start(key)] === letterI;
    const named = context.named(proseSequence);
    if (!context.isData && !isInput) this.#refuseNumbers(document, key + 1, context);
    this.value(document, key + 1, isInput ? named.data() : named);
  }

  #member(document: JsonDocument, key: number, context: Context): void {
    const name = document.text(key);
    if (!context.isData) this.#noteReferences(document, key + 1, { name, context });
    this.value(document, key + 1, context.member(name));
  }

  #noteReferences(document: JsonDocument, entry: number, member: { name: string; context: Context }): void {
    const { name, context } = member;
    const unseen = unseenMember(document, name, entry);
    if (unseen !== undefined) this.#visitor.unseen(unseen, context.place(document, entry));
    if (name !== 'file_data' || document.kind(entry) !== kinds.string) return;
    const place = context.place(document, entry);
    const found = readBareBase64(document.text(entry));
    if (found?.kind === 'opaque') this.#visitor.unseen('opaque', place);
    if (found?.kind === 'texts') this.#decoded(found.texts, place, context.roles);
  }

  /** A block inside a turn may be of another role than the turn. */
  #blockContext(document: JsonDocument, entry: number, context: Context): Context {
    if (context.isData || context.sequence === undefined || this.#dialect === undefined) return context;
    const type = document.memberText(entry, 'type');
    const unseen = unseenBlock(document, entry, type);
    if (unseen !== undefined) this.#visitor.unseen(unseen, context.place(document, entry));
    if (type === undefined) return context;
    const role = this.#dialect.blockRole(type);
    return role === undefined ? context : context.as(roleBits[role]);
  }

  /** An object that carries bytes: `{ media_type, data }`, audio as `{ format, data }`, or `{ type: url, url }`. */
  #source(document: JsonDocument, entry: number, context: Context): void {
    const place = context.place(document, entry);
    const type = document.memberText(entry, 'type');
    if (type === 'url' && document.memberText(entry, 'url') !== undefined) {
      return this.#visitor.unseen('reference', place);
    }
    const data = document.member(entry, 'data');
    if (data === undefined || document.kind(data) !== kinds.string) return;
    const mediaType = document.memberText(entry, 'media_type') ?? document.memberText(entry, 'mime_type');
    if (mediaType === undefined) {
      const isSound = document.member(entry, 'format') !== undefined;
      if (type === 'base64' || isSound) this.#visitor.unseen('opaque', place);
      return;
    }
    if (type === 'text') return;
    if (!isTextType(mediaType)) return this.#visitor.unseen('opaque', place);
    const found = readBase64(document.text(data));
    if (found.kind === 'texts') this.#decoded(found.texts, context.place(document, data), context.roles);
  }

  #string(document: JsonDocument, entry: number, context: Context): void {
    this.#visitor.text(document, entry, context);
    const first = document.bytes[document.start(entry)] as number;
    if (mayBeDataUrl(first)) this.#dataUrl(document, entry, context);
    if (document.isEscaped(entry) && mayBeJson(first)) this.#nested(document, entry, context);
  }

  #dataUrl(document: JsonDocument, entry: number, context: Context): void {
    const start = document.start(entry);
    const head = document.bytes.toString('latin1', start, Math.min(start + 64, document.end(entry)));
    if (!/^(?:\s|\\[nrtu0-9a-f])*data:|\\u/i.test(head)) return;
    const found = readDataUrl(document.text(entry));
    if (found === undefined) return;
    const place = context.place(document, entry);
    if (found.kind === 'opaque') this.#visitor.unseen('opaque', place);
    else this.#decoded(found.texts, place, context.roles);
  }

  #decoded(texts: readonly string[], outer: Place, roles: number): void {
    if (this.#nesting === nestingLimit) return this.#visitor.unseen('opaque', outer);
    this.#nesting += 1;
    const origin = { outer, isDecoded: true };
    const context = new Context({ roles, sequence: undefined, isData: true, origin });
    for (const text of texts) this.value(wrapText(text), 2, context);
    this.#nesting -= 1;
  }

  /** A text that is JSON itself, such as a call's arguments. */
  #nested(document: JsonDocument, entry: number, context: Context): void {
    const text = document.text(entry);
    const isEscaped = text.includes('\\');
    if (!beginsLikeJson(text) || !(isEscaped || endsLikeJson(text))) return;
    const outer = context.place(document, entry);
    if (this.#nesting === nestingLimit) return this.#visitor.unseen('opaque', outer);
    this.#nesting += 1;
    const inner = parseNested(text, document);
    const origin = { outer, isDecoded: inner === undefined };
    const within = new Context({ roles: context.roles, sequence: undefined, isData: true, origin });
    if (inner !== undefined) this.value(inner, 2, within);
    else if (isEscaped) this.value(wrapText(unescapeJson(text)), 2, within);
    this.#nesting -= 1;
  }

  #number(document: JsonDocument, entry: number, context: Context): void {
    // Numbers that follow each other are no split text; joined they would look like cards and the like.
    this.#visitor.text(document, entry, context.apart());
    const digits = readDigits(document, entry);
    if (digits !== undefined) this.#decoded([digits], context.place(document, entry), context.roles);
  }

  /** Token ids in place of text can't be read. */
  #refuseNumbers(document: JsonDocument, entry: number, context: Context): void {
    const at = findNumber(document, entry);
    if (at !== undefined) this.#visitor.unreadable(context.place(document, at), context.roles);
  }
}
