import type { Dialect, Role } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { isEncryptedType } from './encoded.ts';
import { everyRole, type Place, roleBits } from './place.ts';
import { type UnseenKind, unseenNames } from './unseen.ts';

// The adjacency rule: texts that a model may read one after the other are one text. The conversation is one sequence, in
// the order in which hosts render it: the system's texts, then the turns; in a block its title and context, its
// reasoning, its text, a refusal. Some hosts leave out or move parts of it (reasoning of earlier turns, titles, system
// messages, tool results, unknown members), so those texts are optional: the sequence is read with and without each of
// them. Texts that hosts gather from several places form a sequence of their own as well.

/** How the value of a member is read. */
export const memberKinds = {
  /** Unknown in a block: a host may render it or not. */
  other: 0,
  /** Text that the model reads in place. */
  prose: 1,
  /** A name or label of the format, not part of any prose. */
  label: 2,
  /** Bytes, or a sign that the object contains some. */
  bytes: 3,
  /** Refers to content that is stored elsewhere, or encrypted. */
  reference: 4,
  /** What hosts put before the block's text, or leave out: titles, and reasoning. */
  heading: 5,
  /** A wrapper around texts of the block. */
  wrapper: 6,
  /** A call's input: the tool's data, in which nothing is a block of the dialect. */
  input: 7,
  /** Prose that hosts put after the block's other texts. */
  trailing: 8,
  /** A call as its host prints it, with more around it. */
  call: 9,
  /** The label that says what the block is. */
  type: 10,
  /** The label by which others refer to it. */
  id: 11,
  /** The name of a tool, a file or a speaker. */
  name: 12,
} as const;
export type MemberKind = (typeof memberKinds)[keyof typeof memberKinds];

/** The names that say how a member is read; a new one must be tried by `neighbours.test.ts`. */
export const namesByKind: Readonly<Partial<Record<keyof typeof memberKinds, readonly string[]>>> = {
  prose: ['text', 'content', 'output', 'stdout', 'stderr', 'logs', 'system', 'instructions', 'prompt'],
  type: ['type'],
  id: ['id'],
  name: ['name'],
  label: ['role', 'status', 'call_id', 'tool_use_id', 'tool_call_id', 'signature', 'phase', 'detail', 'ttl'],
  bytes: ['media_type', 'mime_type', 'data', 'url'],
  reference: ['file_data', ...unseenNames],
  heading: ['title', 'context', 'filename', 'thinking', 'reasoning', 'reasoning_content', 'summary'],
  wrapper: ['source', 'function', 'custom', 'tool_calls', 'file', 'input_audio', 'outputs', 'results'],
  input: ['input'],
  trailing: ['refusal'],
  call: ['arguments', 'code', 'result', 'error', 'query', 'queries'],
};
const urlEnding = '_url';
const urlEndingBytes = Buffer.from(urlEnding);

interface Entry {
  readonly bytes: Buffer;
  readonly kind: MemberKind;
}

/** The kind of the member with a key, which is mostly not decoded for it. */
export type MemberReader = (document: JsonDocument, key: number) => MemberKind;

/** `further` are names that only one dialect has. */
export function createMemberReader(further: Dialect['members'] = {}): MemberReader {
  const byLength: Entry[][] = [];
  const byText = new Map<string, MemberKind>();
  for (const [kind, names] of [...Object.entries(further), ...Object.entries(namesByKind)]) {
    for (const name of names) {
      const memberKind = memberKinds[kind as keyof typeof memberKinds];
      byLength[name.length] ??= [];
      byLength[name.length]?.push({ bytes: Buffer.from(name), kind: memberKind });
      byText.set(name, memberKind);
    }
  }
  const find = (bytes: Uint8Array, start: number, end: number): MemberKind => {
    const candidates = byLength[end - start];
    if (candidates !== undefined) {
      for (const candidate of candidates) {
        if (startsWith(bytes, start, candidate.bytes)) return candidate.kind;
      }
    }
    const ending = end - urlEndingBytes.length;
    const isUrl = ending >= start && startsWith(bytes, ending, urlEndingBytes);
    return isUrl ? memberKinds.reference : memberKinds.other;
  };
  return (document, key) => {
    if (!document.isEscaped(key)) return find(document.bytes, document.start(key), document.end(key));
    const name = document.text(key);
    return byText.get(name) ?? (name.endsWith(urlEnding) ? memberKinds.reference : memberKinds.other);
  };
}

function startsWith(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let at = 0; at < name.length; at += 1) if (bytes[start + at] !== name[at]) return false;
  return true;
}

/** Members with a lower rank are read before those with a higher one, however a block lists them. */
export function rankOf(kind: MemberKind): number {
  if (kind === memberKinds.heading || kind === memberKinds.name) return 0;
  return kind === memberKinds.trailing ? 2 : 1;
}

/** What must be known about a block before its members are read. */
export interface BlockHead {
  /** Its type; empty if that is no text. */
  readonly type: string | undefined;
  readonly hasId: boolean;
  /** Whether it lists its members in the order in which they are read. */
  readonly isInOrder: boolean;
}

export function readBlockHead(document: JsonDocument, object: number, kindOf: MemberReader): BlockHead {
  const end = document.next(object);
  let type: string | undefined;
  let hasId = false;
  let isInOrder = true;
  let highest = 0;
  for (let key = object + 1; key < end; key = document.next(key + 1)) {
    const kind = kindOf(document, key);
    if (kind === memberKinds.type)
      type = document.kind(key + 1) === kinds.string ? document.text(key + 1) : '';
    else if (kind === memberKinds.id) hasId = true;
    else if (kind !== memberKinds.label) {
      const rank = rankOf(kind);
      if (rank < highest) isInOrder = false;
      else highest = rank;
    }
  }
  return { type, hasId, isInOrder };
}

/** An object whose members are read. */
export interface Members {
  readonly object: number;
  /** How its texts are read. */
  readonly block: Context;
  /** Whether it is a message, whose `name` is a person's. */
  readonly isMessage?: boolean | undefined;
}

/** How the texts of a request's member are read. */
export function memberContext(
  kind: MemberKind,
  document: JsonDocument,
  key: number,
  members: Members,
): Context {
  const { block } = members;
  if (kind === memberKinds.input) return block.data();
  if (!block.isJoined) return block;
  switch (kind) {
    case memberKinds.prose:
    case memberKinds.trailing:
      return block;
    case memberKinds.wrapper:
      return document.kind(key + 1) === kinds.string ? block.optional(ownName(document, key)) : block;
    case memberKinds.label:
    case memberKinds.type:
    case memberKinds.id:
      return block.apart();
    case memberKinds.name:
      return members.isMessage === true ? block.optional('.name') : block.apart();
    case memberKinds.heading:
      return isReasoning(document, key) ? block.optional(undefined) : block.optional(ownName(document, key));
    case memberKinds.call:
      return block.optional(ownName(document, key));
    case memberKinds.bytes:
      return bytesContext(document, key, members);
    case memberKinds.reference:
      return document.kind(key + 1) === kinds.object ? block : block.alone(ownName(document, key));
    case memberKinds.other: {
      // Hosts print a call's input as JSON, with keys and quotes between its values. Of a block that they know, they
      // leave out or refuse the members that they don't; of other blocks they may render any.
      const isUnknown = block.roles === everyRole && !block.isData;
      return isUnknown ? block.optional(ownName(document, key)) : block.alone(ownName(document, key));
    }
  }
}

/** In answers all texts are read together, but those with unknown names only with others of the same name. */
export function answerMemberContext(
  kind: MemberKind,
  document: JsonDocument,
  key: number,
  { block }: Members,
): Context {
  switch (kind) {
    case memberKinds.prose:
    case memberKinds.input:
    case memberKinds.trailing:
      return block.required();
    case memberKinds.label:
    case memberKinds.type:
    case memberKinds.id:
    case memberKinds.name:
      return block.apart();
    case memberKinds.heading:
      return isReasoning(document, key) ? block.required() : block.alone(ownName(document, key));
    default:
      return block.alone(ownName(document, key));
  }
}

const reasoning = new Set(['thinking', 'reasoning', 'reasoning_content', 'summary']);

function isReasoning(document: JsonDocument, key: number): boolean {
  return reasoning.has(document.text(key));
}

/** A plain text source's data is what its model reads; other bytes are read decoded, what is encrypted by itself. */
function bytesContext(document: JsonDocument, key: number, { object, block }: Members): Context {
  const name = document.text(key);
  if (name !== 'data') return block.alone(`.${name}`);
  const type = document.memberText(object, 'type');
  if (type === 'text') return block;
  const isEncoded = ['media_type', 'mime_type', 'mimeType', 'format'].some(
    (each) => document.memberText(object, each) !== undefined,
  );
  return type === 'base64' || isEncoded || isEncryptedType(type)
    ? block.alone('.data')
    : block.optional('.data');
}

function ownName(document: JsonDocument, key: number): string {
  return `.${document.text(key)}`;
}

/** Members that hold the schema of an answer, in any dialect. */
export const answerSchemas = [
  'schema',
  ...['responseSchema', 'response_schema', 'responseJsonSchema', 'response_json_schema'],
];
/** The same of a tool. */
export const toolSchemas = [
  ...['parameters', 'parametersJsonSchema', 'parameters_json_schema', 'input_schema', 'output_schema'],
];
const schemaNames = new Set([...answerSchemas, ...toolSchemas]);

/** Whether a member is the schema of a tool or of the answer, in which names are only names. */
export function isSchema(document: JsonDocument, key: number, { isJoined }: Context): boolean {
  return !isJoined && document.kind(key + 1) === kinds.object && schemaNames.has(document.text(key));
}

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
  readonly kin?: Kin | undefined;
}

/** What contexts that were made from one another take, in characters: names of members, however long, are among them. */
interface Kin {
  size: number;
}

/** A context without a name takes as much memory as about so many characters. */
const contextSize = 64;

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
  readonly #kin: Kin;

  constructor({ roles, conversation, own, isData, isUnlisted = false, origin, kin }: ContextParts) {
    this.#kin = kin ?? { size: 0 };
    this.#kin.size += contextSize + (own?.length ?? 0);
    this.roles = roles;
    this.conversation = conversation;
    this.own = own;
    this.isData = isData;
    this.isUnlisted = isUnlisted;
    this.origin = origin;
    this.isJoined = conversation !== joins.none || own !== undefined;
    this.leftOut = conversation === joins.optional ? (own ?? `${roles} ${isData}`) : undefined;
  }

  /** What it takes with those that were made from it, and from those, in characters. */
  get kinSize(): number {
    return this.#kin.size;
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
    const known = this.#variants?.get('data');
    if (known !== undefined) return known;
    const conversation = this.conversation === joins.none ? joins.none : joins.optional;
    return this.#keep('data', { ...this.#parts(), conversation, isData: true });
  }

  /** The same for what is always part of the conversation. */
  required(): Context {
    if (this.conversation === joins.required && this.own === undefined) return this;
    const known = this.#variants?.get('required');
    return (
      known ?? this.#keep('required', { ...this.#parts(), conversation: joins.required, own: undefined })
    );
  }

  /** The same for what only some hosts render; if it has a name, all of that name form a sequence as well. */
  optional(own: string | undefined): Context {
    if (this.conversation === joins.none) return own === undefined ? this : this.alone(own);
    if (this.conversation === joins.optional && this.own === own) return this;
    const key = own ?? 'optional';
    const known = this.#variants?.get(key);
    return known ?? this.#keep(key, { ...this.#parts(), conversation: joins.optional, own });
  }

  /** The same for what is read together only with its like. */
  alone(own: string): Context {
    if (this.conversation === joins.none && this.own === own) return this;
    const key = `alone ${own}`;
    const known = this.#variants?.get(key);
    return known ?? this.#keep(key, { ...this.#parts(), conversation: joins.none, own });
  }

  as(roles: number): Context {
    if (roles === this.roles) return this;
    const known = this.#variants?.get(roles);
    if (known !== undefined) return known;
    const isMovable = this.conversation !== joins.none && (roles & movable) === roles;
    if (!isMovable) return this.#keep(roles, { ...this.#parts(), roles });
    // Hosts gather the system's texts from anywhere.
    const own = roles === roleBits.system ? 'system' : undefined;
    return this.#keep(roles, { ...this.#parts(), roles, conversation: joins.optional, own });
  }

  /** The same for a document parsed from a text here, which readers also see as plain text. */
  within(origin: Origin): Context {
    return new Context({ roles: this.roles, conversation: joins.none, isData: true, origin });
  }

  /** The same for a document that readers see decoded instead of the original. */
  inPlace(origin: Origin): Context {
    return new Context({ ...this.#parts(), isData: true, origin, kin: undefined });
  }

  place(document: JsonDocument, entry: number): Place {
    if (this.origin === undefined) return { document, entry };
    const { outer, isDecoded, isUnescaped } = this.origin;
    if (isUnescaped === true) return { document, entry, outer, isDecoded: true, isUnescaped };
    return isDecoded ? { document, entry, outer, isDecoded: true } : { document, entry, outer };
  }

  #parts(): ContextParts {
    const { roles, conversation, own, isData, isUnlisted, origin } = this;
    return { roles, conversation, own, isData, isUnlisted, origin, kin: this.#kin };
  }

  /** Most contexts of texts that are JSON have no variants. */
  #keep(key: string | number, parts: ContextParts): Context {
    const variant = new Context(parts);
    this.#variants ??= new Map();
    this.#variants.set(key, variant);
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
