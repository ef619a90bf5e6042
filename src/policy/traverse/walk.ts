import type { Dialect } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import {
  type Decoded,
  findNumber,
  holdsBinary,
  mayBeDataUrl,
  mayBeJson,
  mayBeNumbers,
  mayHideTexts,
  parseNested,
  readDigits,
  readProseUrl,
  readSource,
  readUrlOrBytes,
  spellNumbers,
  unescapeJson,
} from './encoded.ts';
import { everyRole, type Place, roleBits, wrapText } from './place.ts';
import {
  answerMemberContext,
  Context,
  createMemberReader,
  isSchema,
  joins,
  type MemberKind,
  type MemberReader,
  type Members,
  memberContext,
  memberKinds,
  rankOf,
  readBlockHead,
  type Visitor,
} from './reading-order.ts';
import { isTopReference, type UnseenKind, unseenBlock, unseenMember } from './unseen.ts';

export interface Walk {
  /** Visits every string, key and number of a request, under any field name. */
  request(document: JsonDocument, dialect: Dialect, visitor: Visitor): void;
  /** The same for an answer, or a part of one; it has no roles. The texts of each choice of a chat are apart. */
  document(document: JsonDocument, roles: number, visitor: Visitor): void;
}

export function createWalk(): Walk {
  const reader = createMemberReader();
  const known = new WeakMap<Dialect, RequestParts>();
  const partsOf = (dialect: Dialect): RequestParts => {
    const before = known.get(dialect);
    if (before !== undefined) return before;
    const parts = createParts(dialect, reader);
    known.set(dialect, parts);
    return parts;
  };
  return {
    request: (document, dialect, visitor) => {
      const parts = partsOf(dialect);
      try {
        new RequestWalk(visitor, dialect, parts).request(document);
      } finally {
        if (sizeOf(parts.contexts) > maxKept) parts.contexts = createContexts();
      }
    },
    document: (document, roles, visitor) => {
      const context = new Context({ roles, conversation: joins.required, isData: true });
      const { root } = document;
      const choices = document.member(root, 'choices') ?? document.member(root, 'candidates');
      new ValueWalk({ visitor, reader, choices }).value(document, root, context);
    },
  };
}

/** Members of requests whose texts are ids, names, addresses, choices and schemas; dialects have further ones. */
const settings = new Set(
  [
    'model models fallbacks fallback_models fallback_model provider route plugins preset transforms',
    'user safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options',
    'service_tier speed inference_geo container context_management cache_control betas include store truncation',
    'conversation previous_response_id previous_interaction_id thread client_metadata user_profile_id labels',
    'tool_choice parallel_tool_calls function_call mcp_servers toolConfig tool_config',
    'response_format output_config output_format generationConfig generation_config safetySettings safety_settings',
    'reasoning reasoning_effort thinking verbosity modalities audio stream_options moderation diagnostics',
    'cachedContent cached_content encoding_format taskType task_type input_type',
  ].flatMap((line) => line.split(' ')),
);

/** What a walk through requests of a dialect needs. */
interface RequestParts {
  readonly reader: MemberReader;
  /** Fields whose texts the model reads before all others: the system's, and titles. */
  readonly first: readonly string[];
  /** Requests have the same few, which are kept for the next ones. */
  contexts: RequestContexts;
}

type RequestContexts = ReturnType<typeof createContexts>;

/** Characters: a thousand contexts. More are not kept: clients may invent any names of members, each as long as a body. */
const maxKept = 80_000;

function createContexts() {
  const anywhere = { roles: everyRole, conversation: joins.none, isData: false };
  return {
    everything: new Context(anywhere),
    unlisted: new Context({ ...anywhere, isUnlisted: true }),
    conversation: new Context({ ...anywhere, conversation: joins.required }),
  };
}

function sizeOf({ everything, unlisted, conversation }: RequestContexts): number {
  return everything.kinSize + unlisted.kinSize + conversation.kinSize;
}

function createParts({ members, places }: Dialect, reader: MemberReader): RequestParts {
  return {
    reader: members === undefined ? reader : createMemberReader(members),
    first: [...places].flatMap(([name, held]) => (held === 'system' || held === 'title' ? [name] : [])),
    contexts: createContexts(),
  };
}

/** The fields of a request, and the turns of its conversation, in the order in which the model reads them. */
class RequestWalk {
  readonly #visitor: Visitor;
  readonly #dialect: Dialect;
  readonly #values: ValueWalk;
  readonly #first: readonly string[];
  readonly #everything: Context;
  readonly #unlisted: Context;
  readonly #conversation: Context;

  constructor(visitor: Visitor, dialect: Dialect, { reader, first, contexts }: RequestParts) {
    this.#visitor = visitor;
    this.#dialect = dialect;
    this.#values = new ValueWalk({ visitor, reader, dialect });
    this.#first = first;
    this.#everything = contexts.everything;
    this.#unlisted = contexts.unlisted;
    this.#conversation = contexts.conversation;
  }

  request(document: JsonDocument, object: number = document.root): void {
    // The model reads system texts, or a title, before all others, wherever they stand in the body.
    let first = noKeys;
    for (const name of this.#first) {
      const entry = document.member(object, name);
      if (entry === undefined) continue;
      first = [...first, entry - 1];
      this.#field(document, entry - 1);
    }
    const end = document.next(object);
    for (let key = object + 1; key < end; key = document.next(key + 1)) {
      if (!first.includes(key)) this.#field(document, key);
    }
  }

  #field(document: JsonDocument, key: number): void {
    const name = document.text(key);
    const value = key + 1;
    this.#visitor.text(document, key, this.#everything);
    if (isTopReference(document, name, value)) {
      this.#visitor.unseen('reference', { document, entry: value });
    }
    const place = this.#dialect.places.get(name);
    switch (place) {
      case undefined: {
        const isSetting = settings.has(name) || this.#dialect.settings?.includes(name) === true;
        return this.#values.field(document, key, isSetting ? this.#everything : this.#unlisted);
      }
      case 'turns':
        return this.#turns(document, value);
      case 'request':
        if (document.kind(value) === kinds.object) return this.request(document, value);
        return this.#values.field(document, key, this.#unlisted);
      case 'tool_definition':
        return this.#tools(document, value);
      case 'title':
        return this.#values.section(
          document,
          value,
          this.#conversation.as(roleBits.user).optional(`.${name}`),
        );
      case 'parts':
        return this.#values.section(document, value, this.#everything.alone(`.${name}`));
      default:
        return this.#values.section(document, value, this.#conversation.as(roleBits[place]));
    }
  }

  #tools(document: JsonDocument, entry: number): void {
    for (const tool of document.elements(entry)) {
      const unseen = unseenBlock(document, tool, { type: document.memberText(tool, 'type') });
      if (unseen !== undefined) this.#visitor.unseen(unseen, { document, entry: tool });
    }
    this.#values.value(document, entry, this.#everything.as(roleBits.tool_definition));
  }

  /** The conversation: each element a turn with its own role. */
  #turns(document: JsonDocument, entry: number): void {
    // A plain text in place of turns is the user's.
    if (document.kind(entry) !== kinds.array)
      return this.#values.section(document, entry, this.#conversation.as(roleBits.user));
    this.#values.refuseNumbers(document, entry, this.#conversation);
    const end = document.next(entry);
    for (let turn = entry + 1; turn < end; turn = document.next(turn)) {
      const role = this.#dialect.turnRole(document, turn);
      this.#visitor.turn(turn, role);
      const context = role === undefined ? this.#conversation : this.#conversation.as(roleBits[role]);
      this.#values.turn(document, turn, context);
    }
  }
}

const noKeys: readonly number[] = [];
const nestingLimit = 4;
/** Members that hold nothing but bytes, however short these are and even if other members are missing. */
const byteWrappers = new Set(['source', 'input_audio', 'inlineData', 'inline_data']);

interface ValueWalkParts {
  readonly visitor: Visitor;
  readonly reader: MemberReader;
  /** Of requests only. */
  readonly dialect?: Dialect;
  /** The list of an answer whose elements are not read as one text. */
  readonly choices?: number | undefined;
}

interface OrderedMembers extends Members {
  /** Whether they are listed in the order in which they are read. */
  readonly isInOrder: boolean;
}

/** Everything below a field: blocks of the dialect and plain data, and the texts inside texts. */
class ValueWalk {
  readonly #visitor: Visitor;
  readonly #kindOf: MemberReader;
  readonly #dialect: Dialect | undefined;
  readonly #choices: number | undefined;
  #nesting = 0;
  /** Whether the next list is one of blocks of the turn itself. */
  #isAtTurn = false;
  /** The last entry that was reported as unseen: one object may be so for two reasons. */
  #unseenEntry = -1;

  constructor({ visitor, reader, dialect, choices }: ValueWalkParts) {
    this.#visitor = visitor;
    this.#kindOf = reader;
    this.#dialect = dialect;
    this.#choices = choices;
  }

  /** A field of the request that is no part of the conversation. */
  field(document: JsonDocument, key: number, context: Context): void {
    const kind = this.#kindOf(document, key);
    if (kind === memberKinds.reference) this.#reference(document, key, context);
    this.value(document, key + 1, context);
  }

  /** A field of one role: a text, or texts in any form. */
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
      const head = readBlockHead(document, entry, this.#kindOf);
      const unseen = unseenBlock(document, entry, head);
      if (unseen !== undefined) this.#noteUnseen(unseen, context.place(document, entry));
      const isMessage = document.member(entry, 'role') !== undefined;
      this.#members(document, { object: entry, block: context, isInOrder: head.isInOrder, isMessage });
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
        return this.#object(document, entry, context);
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
      this.value(document, at, context);
      if (entry === this.#choices && context.origin === undefined) this.#visitor.part();
    }
    if (isOfTurn) this.#isAtTurn = true;
  }

  #object(document: JsonDocument, entry: number, context: Context): void {
    if (this.#dialect === undefined || !context.isJoined || context.isData) {
      return this.#members(document, { object: entry, block: context, isInOrder: true });
    }
    const head = readBlockHead(document, entry, this.#kindOf);
    const unseen = unseenBlock(document, entry, head);
    if (unseen !== undefined) this.#noteUnseen(unseen, context.place(document, entry));
    const isListed = !document.isKey(entry - 1);
    const type = head.type ?? (isListed ? this.#dialect.blockType?.(document, entry) : undefined);
    const own = context.as(this.#blockRoles(type, isListed) ?? context.roles);
    // Hosts leave reasoning of earlier turns out.
    const block = type === 'thinking' ? own.optional(undefined) : own;
    this.#members(document, { object: entry, block, isInOrder: head.isInOrder });
  }

  /** A block inside a turn may be of another role than the turn; one of no known type is of every role. */
  #blockRoles(type: string | undefined, isListed: boolean): number | undefined {
    // What wraps a part of a block has no type; in a list it would be a block that could be anything.
    if (type === undefined) return isListed ? everyRole : undefined;
    const role = this.#dialect?.blocks.get(type);
    if (role === 'outer') return undefined;
    return role === undefined ? everyRole : roleBits[role];
  }

  #noteUnseen(kind: UnseenKind | undefined, place: Place): void {
    if (kind === undefined) return;
    if (place.outer === undefined && place.entry === this.#unseenEntry) return;
    if (place.outer === undefined) this.#unseenEntry = place.entry;
    this.#visitor.unseen(kind, place);
  }

  #members(document: JsonDocument, members: OrderedMembers): void {
    const { object, isInOrder } = members;
    const next = document.next(object);
    if (!isInOrder) {
      for (let rank = 0; rank <= 2; rank += 1) {
        for (let key = object + 1; key < next; key = document.next(key + 1)) {
          if (rankOf(this.#kindOf(document, key)) === rank) this.#member(document, key, members);
        }
      }
      return this.#source(document, object, members.block);
    }
    let mayHoldBytes = false;
    for (let key = object + 1; key < next; key = document.next(key + 1)) {
      if (this.#member(document, key, members)) mayHoldBytes = true;
    }
    if (mayHoldBytes) this.#source(document, object, members.block);
  }

  /** Returns whether it is a sign that its object carries bytes. */
  #member(document: JsonDocument, key: number, members: Members): boolean {
    const { block } = members;
    const value = key + 1;
    const kind = this.#kindOf(document, key);
    this.#visitor.text(document, key, block.apart());
    const context = this.#contextOf(document, key, kind, members);
    if (block.isData) {
      this.value(document, value, context);
      return this.#dialect === undefined && this.#answerBytes(document, key, block);
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
          const decoded = readUrlOrBytes(document.text(key), document.text(value));
          if (decoded !== undefined) this.#readDecoded(decoded, block.place(document, value), block);
          return kind === memberKinds.bytes;
        }
        break;
      case memberKinds.other:
        if (isSchema(document, key, block)) {
          this.value(document, value, context.data());
          return false;
        }
        break;
      default:
    }
    this.value(document, value, context);
    return kind === memberKinds.bytes;
  }

  /** Of an answer, bytes are read as those of a request are. */
  #answerBytes(document: JsonDocument, key: number, block: Context): boolean {
    const kind = this.#kindOf(document, key);
    const value = key + 1;
    if (kind !== memberKinds.bytes && kind !== memberKinds.reference) return false;
    if (document.kind(value) !== kinds.string) return false;
    // A data URL has already been read in place.
    if (!mayBeDataUrl(document, document.start(value), document.end(value))) {
      const decoded = readUrlOrBytes(document.text(key), document.text(value));
      if (decoded !== undefined) this.#readDecoded(decoded, block.place(document, value), block);
    }
    return kind === memberKinds.bytes;
  }

  #contextOf(document: JsonDocument, key: number, kind: MemberKind, members: Members): Context {
    // What is no text is read with nothing else, so that its name makes no sequence.
    if (document.kind(key + 1) > kinds.string) return members.block.apart();
    const contextOf = this.#dialect === undefined ? answerMemberContext : memberContext;
    return contextOf(kind, document, key, members);
  }

  #reference(document: JsonDocument, key: number, block: Context): void {
    const place = block.place(document, key + 1);
    this.#noteUnseen(unseenMember(document, document.text(key), key + 1), place);
  }

  /** An object that carries bytes. */
  #source(document: JsonDocument, object: number, block: Context): void {
    const isWrapped = document.isKey(object - 1) && byteWrappers.has(document.text(object - 1));
    const source = readSource(document, object, { isInConversation: block.isJoined, isWrapped });
    if (source === undefined) return;
    this.#noteUnseen(source.unseen, block.place(document, object));
    this.#decoded(source.texts, block.place(document, source.data), block);
  }

  #string(document: JsonDocument, entry: number, context: Context): void {
    this.#visitor.text(document, entry, context);
    // A text or a member of any name may be a picture all the same.
    if (this.#dialect !== undefined && holdsBinary(document, entry))
      this.#noteUnseen('opaque', context.place(document, entry));
    const start = document.start(entry);
    if (mayBeDataUrl(document, start, document.end(entry))) {
      const decoded = readProseUrl(document.text(entry));
      if (decoded !== undefined) this.#readDecoded(decoded, context.place(document, entry), context.apart());
    }
    const isNumbers = mayBeNumbers(document, start, document.end(entry));
    if (!isNumbers && !(document.isEscaped(entry) && mayBeJson(document.bytes[start] as number))) return;
    const text = document.text(entry);
    if (isNumbers || mayHideTexts(text)) this.#nested(text, context.place(document, entry), context);
  }

  #readDecoded({ texts, isOpaque }: Decoded, outer: Place, context: Context): void {
    if (isOpaque) this.#noteUnseen('opaque', outer);
    this.#decoded(texts, outer, context);
  }

  #decoded(texts: readonly string[], outer: Place, context: Context): void {
    if (texts.length === 0) return;
    if (this.#nesting === nestingLimit) return this.#noteUnseen('opaque', outer);
    this.#nesting += 1;
    const origin = { outer, isDecoded: true };
    // Of several readings the first is the likeliest, and a reader has but one.
    texts.forEach((text, at) => {
      this.value(wrapText(text), 2, at === 0 ? context.inPlace(origin) : context.within(origin));
    });
    this.#nesting -= 1;
  }

  /** A text that is JSON itself, such as a call's arguments. */
  #nested(text: string, outer: Place, context: Context): void {
    if (this.#nesting === nestingLimit) return this.#noteUnseen('opaque', outer);
    this.#nesting += 1;
    const inner = parseNested(text);
    if (inner !== undefined) this.value(inner, 2, context.within({ outer, isDecoded: false }));
    else {
      const plain = spellNumbers(unescapeJson(text));
      const within = { outer, isDecoded: true, isUnescaped: true } as const;
      if (plain !== text) this.value(wrapText(plain), 2, context.within(within));
    }
    this.#nesting -= 1;
  }

  #number(document: JsonDocument, entry: number, context: Context): void {
    // Numbers that follow each other are no split text; joined they would look like cards and the like.
    this.#visitor.text(document, entry, context.apart());
    const readings = readDigits(document, entry);
    if (readings.length > 0) this.#decoded(readings, context.place(document, entry), context.apart());
  }
}
