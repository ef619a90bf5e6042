import { type JsonDocument, kinds } from '../json/json-document.ts';
import { memberAt } from './dialect.ts';

/** A piece of text in an event, which may continue in later events. */
export interface StreamPart {
  readonly entry: number;
  /** Its text, where that is not the entry's own: numbers that are bytes. */
  readonly text?: string;
  /** Texts of one channel are concatenated: one block, one choice, one call. */
  readonly channel: string;
  /** Set if readers continue here from the previous block: the prefix of the channels in which both are joined. */
  readonly joinGroup?: string;
  /** Whether the dialect repeats it by itself at the end of its block. */
  readonly isRepeated?: true;
  /** Whether clients act on it, so that it is checked by itself too, and never replaced: a tool's name. */
  readonly isFixed?: true;
  /** Whether it must be complete to be used, as a call's arguments. */
  readonly needsWhole: boolean;
}

/** What an event carries: pieces of texts, and the channels (by prefix) that end with it. */
export interface EventParts {
  readonly parts: readonly StreamPart[];
  readonly ends: readonly string[];
}

const labels = new Set(['type', 'id', 'role', 'signature', 'object', 'model', 'item_id', 'call_id']);
const lastEvents =
  /^(?:message_delta|message_stop|error|response\.(?:completed|incomplete|failed|cancelled))$/;

/**
 * Says of each event of a stream which of its texts are pieces of longer ones, in any streaming dialect: the one place
 * that knows how they belong together. It goes by structure rather than by a list of fields, because hosts add their own
 * (`reasoning`, `reasoning_content` …, a type next to choices), and reads what any dialect would: a member of another one
 * hides nothing. An event without a type uses its name as type.
 */
export class PartReader {
  /** By candidate, how many calls have begun. */
  readonly #calls = new Map<string, number>();

  read(document: JsonDocument, name: string | undefined): EventParts {
    const found = [readChoices(document), this.#candidates(document)];
    const type = document.memberText(document.root, 'type') ?? name;
    if (type !== undefined) {
      found.unshift(readTyped(document, type));
      const place = `${numberOf(document, document.root, 'output_index')}.`;
      found.push({ parts: byteParts(document, document.root, place), ends: [] });
    }
    return { parts: found.flatMap(({ parts }) => parts), ends: found.flatMap(({ ends }) => ends) };
  }

  /** Responses of Gemini's stream: parts of several candidates, each with its index. */
  #candidates(document: JsonDocument): EventParts {
    const candidates = document.member(document.root, 'candidates');
    if (candidates === undefined || document.kind(candidates) !== kinds.array) return nothing;
    const parts: StreamPart[] = [];
    const ends: string[] = [];
    for (const at of document.elements(candidates)) {
      const channel = `${numberOf(document, at, 'index') || '0'}.`;
      const list = memberAt(document, 'content.parts', at);
      const found =
        list === undefined || document.kind(list) !== kinds.array
          ? []
          : [...document.elements(list)].flatMap((part) => this.#partOf(document, part, channel));
      parts.push(...found);
      const isEnd = (document.memberText(at, 'finishReason') ?? '') !== '';
      if (isEnd && !hasText(document, found)) ends.push(channel);
    }
    return { parts, ends };
  }

  #partOf(document: JsonDocument, part: number, channel: string): readonly StreamPart[] {
    const isThought = document.member(part, 'thought') !== undefined;
    const text = stringAt(document, 'text', part);
    const found: StreamPart[] = [];
    if (text !== undefined)
      found.push({
        entry: text,
        channel: `${channel}${isThought ? 'thought' : 'text'}.`,
        needsWhole: false,
        joinGroup: channel,
      });
    for (const path of ['executableCode.code', 'codeExecutionResult.output']) {
      const entry = stringAt(document, path, part);
      if (entry !== undefined) found.push({ entry, channel: `${channel}${path}.`, needsWhole: false });
    }
    const call = document.member(part, 'functionCall');
    return call === undefined ? found : [...found, ...this.#argumentsOf(document, call, channel)];
  }

  /** The arguments of a call that come in pieces, each with the path of its value; without them a call is whole. */
  #argumentsOf(document: JsonDocument, call: number, channel: string): readonly StreamPart[] {
    if (document.memberText(call, 'name') !== undefined)
      this.#calls.set(channel, (this.#calls.get(channel) ?? 0) + 1);
    const list = document.member(call, 'partialArgs');
    if (list === undefined || document.kind(list) !== kinds.array) return [];
    const number = this.#calls.get(channel) ?? 0;
    return [...document.elements(list)].flatMap((piece) => {
      const entry = stringAt(document, 'stringValue', piece);
      const path = document.memberText(piece, 'jsonPath') ?? '';
      return entry === undefined
        ? []
        : [{ entry, channel: `${channel}call.${number}.${path}.`, needsWhole: false }];
    });
  }
}

const nothing: EventParts = { parts: [], ends: [] };

function stringAt(document: JsonDocument, path: string, object: number): number | undefined {
  const entry = memberAt(document, path, object);
  return entry !== undefined && document.kind(entry) === kinds.string ? entry : undefined;
}

/** A reason to finish that comes with a text need not be the end: some hosts send one with every piece. */
function hasText(document: JsonDocument, parts: readonly StreamPart[]): boolean {
  return parts.some(({ entry }) => document.end(entry) > document.start(entry));
}

/** Events of Messages and of Responses carry their type. */
function readTyped(document: JsonDocument, type: string): EventParts {
  const { root } = document;
  if (lastEvents.test(type)) return { parts: [], ends: [''] };
  const index = numberOf(document, root, 'index');
  if (type === 'content_block_stop') return { parts: [], ends: [`${index}.`] };
  const place = `${numberOf(document, root, 'output_index')}.`;
  const within = numberOf(document, root, 'content_index') + numberOf(document, root, 'summary_index');
  if (type === 'content_block_start') return { parts: firstTexts(document, `${index}.`), ends: [] };
  if (type === 'message_start') return { parts: textsAtStart(document), ends: [] };
  if (type === 'response.content_part.added') {
    return {
      parts: firstTextOfPart(document, (kind) => `${place}response.${kind}.delta.${within}`),
      ends: [],
    };
  }
  const delta = document.member(root, 'delta');
  if (delta === undefined) return { parts: [], ends: type.endsWith('.done') ? [place] : [] };
  if (document.kind(delta) === kinds.string) {
    const needsWhole = /arguments|_input|_code/.test(type);
    const part = { entry: delta, channel: `${place}${type}.${within}`, needsWhole };
    return { parts: [needsWhole ? part : { ...part, joinGroup: '', isRepeated: true }], ends: [] };
  }
  return {
    parts: withJoinGroup(leaves(document, delta, `${index}.`), { channel: `${index}.`, joinGroup: '' }),
    ends: [],
  };
}

/** The text that a Messages block starts with, which its deltas continue. */
function firstTexts(document: JsonDocument, channel: string): readonly StreamPart[] {
  return ['text', 'thinking'].flatMap((name) => {
    const entry = memberAt(document, `content_block.${name}`);
    if (entry === undefined || document.kind(entry) !== kinds.string) return [];
    return [{ entry, channel: `${channel}${name}.`, needsWhole: false, joinGroup: '' }];
  });
}

/** The same for a part of an item of Responses, given the channel of its deltas by the part's type. */
function firstTextOfPart(document: JsonDocument, channelOf: (kind: string) => string): readonly StreamPart[] {
  const part = document.member(document.root, 'part');
  const kind = part === undefined ? undefined : document.memberText(part, 'type');
  if (part === undefined || kind === undefined) return [];
  const entry = document.member(part, 'text') ?? document.member(part, 'refusal');
  if (entry === undefined || document.kind(entry) !== kinds.string) return [];
  return [{ entry, channel: channelOf(kind), needsWhole: false, joinGroup: '', isRepeated: true }];
}

/** Blocks that a message already has when it starts; clients append the blocks of the stream to them. */
function textsAtStart(document: JsonDocument): readonly StreamPart[] {
  const content = memberAt(document, 'message.content');
  return content === undefined
    ? []
    : leaves(document, content, 'start.').map((part) => (part.isFixed ? part : { ...part, joinGroup: '' }));
}

/** Texts directly in a delta, and in the parts of its content, are read one after the other; deeper ones are separate. */
function withJoinGroup(
  parts: readonly StreamPart[],
  { channel, joinGroup }: { readonly channel: string; readonly joinGroup: string },
): readonly StreamPart[] {
  return parts.map((part) => {
    const isOwn = part.channel.indexOf('.', channel.length) === part.channel.length - 1;
    const isInContent = part.channel.startsWith('content.', channel.length);
    return (isOwn || isInContent) && !part.needsWhole && !part.isFixed ? { ...part, joinGroup } : part;
  });
}

/** Chunks of Chat Completions: deltas of several choices, each with its index. */
function readChoices(document: JsonDocument): EventParts {
  const choices = document.member(document.root, 'choices');
  const parts: StreamPart[] = [];
  const ends: string[] = [];
  const error = document.member(document.root, 'error');
  // A host that reports an error sends nothing more; some send a null error in every chunk.
  if (error !== undefined && document.kind(error) !== kinds.null) ends.push('');
  for (const choice of choices === undefined ? [] : document.elements(choices)) {
    const channel = `${numberOf(document, choice, 'index') || '0'}.`;
    const own: StreamPart[] = [];
    for (const name of ['delta', 'message', 'logprobs', 'text']) {
      const value = document.member(choice, name);
      if (value === undefined) continue;
      // Some hosts send a message in place of a delta, and clients read on from one to the other.
      const isPiece = name === 'delta' || name === 'message';
      const within = `${channel}${isPiece ? 'delta' : name}.`;
      const found = leaves(document, value, within);
      own.push(...(isPiece ? withJoinGroup(found, { channel: within, joinGroup: channel }) : found));
    }
    parts.push(...own, ...byteParts(document, choice, channel));
    // Some hosts send an empty one with every chunk.
    const isEnd = (document.memberText(choice, 'finish_reason') ?? '') !== '';
    if (isEnd && !hasText(document, own)) ends.push(channel);
  }
  return { parts, ends };
}

/** What `logprobs` repeat as numbers; nothing in it can be replaced. */
function byteParts(document: JsonDocument, owner: number, channel: string): readonly StreamPart[] {
  const logprobs = document.member(owner, 'logprobs');
  if (logprobs === undefined) return [];
  return byteLists(document, logprobs).map(({ entry, text }, number) => ({
    ...{ entry, text, channel: `${channel}bytes.${number}.` },
    isFixed: true,
    needsWhole: false,
  }));
}

/** The text of a part of a content that is a list: some hosts send one piece so, and the next as a plain text. */
function plainText(document: JsonDocument, part: number): number | undefined {
  if (document.kind(part) === kinds.string) return part;
  const isText = document.kind(part) === kinds.object && document.memberText(part, 'type') === 'text';
  return isText ? stringAt(document, 'text', part) : undefined;
}

/** All texts of a value; list elements with an index are identified by it. */
function leaves(document: JsonDocument, entry: number, channel: string): readonly StreamPart[] {
  switch (document.kind(entry)) {
    case kinds.string:
      // Some clients concatenate the pieces of a name, others keep the last.
      return channel.endsWith('.name.')
        ? [{ entry, channel, needsWhole: false, isFixed: true }]
        : [{ entry, channel, needsWhole: /arguments|partial_json/.test(channel) }];
    case kinds.array: {
      const parts: StreamPart[] = [];
      for (let at = entry + 1; at < document.next(entry); at = document.next(at)) {
        const text = channel.endsWith('.content.') ? plainText(document, at) : undefined;
        if (text !== undefined) parts.push({ entry: text, channel, needsWhole: false });
        else parts.push(...leaves(document, at, `${channel}${numberOf(document, at, 'index')}.`));
      }
      return parts;
    }
    case kinds.object: {
      const parts: StreamPart[] = [];
      for (let key = entry + 1; key < document.next(entry); key = document.next(key + 1)) {
        const name = document.text(key);
        if (!labels.has(name)) parts.push(...leaves(document, key + 1, `${channel}${name}.`));
      }
      return parts;
    }
    default:
      return [];
  }
}

/** However it is written: to most clients `0`, `0.0`, `"0"` and null are the same place. */
function numberOf(document: JsonDocument, object: number, name: string): string {
  const value = document.member(object, name);
  if (value === undefined) return '';
  if (document.kind(value) === kinds.null) return '0';
  const written = document.kind(value) === kinds.string ? document.text(value) : document.raw(value);
  return /^[\d.eE+-]+$/.test(written) ? String(Number(written)) : written;
}

/** The texts that an answer's `logprobs` repeat as numbers: `[{bytes: [104, 105]}, …]`, at any depth; each with its list. */
export function byteLists(
  document: JsonDocument,
  entry: number,
): readonly { readonly entry: number; readonly text: string }[] {
  if (document.kind(entry) > kinds.array) return [];
  const isList = document.kind(entry) === kinds.array;
  const values = isList ? [...document.elements(entry)] : membersOf(document, entry);
  const inside = values.flatMap((value) => byteLists(document, value));
  const bytes = isList ? values.flatMap((value) => bytesOf(document, value)) : [];
  return bytes.length === 0 ? inside : [{ entry, text: Buffer.from(bytes).toString('utf8') }, ...inside];
}

function membersOf(document: JsonDocument, object: number): readonly number[] {
  const values: number[] = [];
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) values.push(key + 1);
  return values;
}

function bytesOf(document: JsonDocument, object: number): readonly number[] {
  const list = document.member(object, 'bytes');
  return list === undefined ? [] : Array.from(document.elements(list), (value) => document.number(value));
}
