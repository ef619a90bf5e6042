import { type JsonDocument, kinds } from '../dialects/json-document.ts';

/** A text in an event that goes on in later events. */
export interface StreamPart {
  readonly entry: number;
  /** Texts of one channel belong together: one block, one choice, one call. */
  readonly channel: string;
  /** A call's arguments, which nobody can use before they are complete. */
  readonly isWhole: boolean;
}

/** What an event says: texts that go on, and the channels (by their beginning) that end with it. */
export interface EventParts {
  readonly parts: readonly StreamPart[];
  readonly ends: readonly string[];
}

const labels = new Set(['type', 'id', 'role', 'name', 'signature', 'object', 'model', 'item_id', 'call_id']);
const lastEvents =
  /^(?:message_delta|message_stop|error|response\.(?:completed|incomplete|failed|cancelled))$/;

/**
 * Finds the texts of an event that are pieces of longer ones, in any of the streaming dialects, and by
 * shape rather than by a list of fields, because hosts add their own (`reasoning`, `reasoning_content` …).
 */
export function readParts(document: JsonDocument): EventParts {
  const type = document.memberText(document.root, 'type');
  if (type !== undefined) return readTyped(document, type);
  return readChoices(document);
}

/** Events of Messages and of Responses carry their type. */
function readTyped(document: JsonDocument, type: string): EventParts {
  const { root } = document;
  if (lastEvents.test(type)) return { parts: [], ends: [''] };
  const index = numberOf(document, root, 'index');
  if (type === 'content_block_stop') return { parts: [], ends: [`${index}.`] };
  const delta = document.member(root, 'delta');
  const place = `${numberOf(document, root, 'output_index')}.`;
  if (delta === undefined) return { parts: [], ends: type.endsWith('.done') ? [place] : [] };
  if (document.kind(delta) === kinds.string) {
    const within = numberOf(document, root, 'content_index') + numberOf(document, root, 'summary_index');
    const channel = `${place}${type}.${within}`;
    return { parts: [{ entry: delta, channel, isWhole: /arguments|_input|_code/.test(type) }], ends: [] };
  }
  return { parts: leaves(document, delta, `${index}.`), ends: [] };
}

/** Chunks of Chat Completions: deltas of several choices, each with its index. */
function readChoices(document: JsonDocument): EventParts {
  const choices = document.member(document.root, 'choices');
  const parts: StreamPart[] = [];
  const ends: string[] = [];
  if (choices === undefined || document.kind(choices) !== kinds.array) return { parts, ends };
  for (let choice = choices + 1; choice < document.next(choices); choice = document.next(choice)) {
    const channel = `${numberOf(document, choice, 'index')}.`;
    for (const name of ['delta', 'logprobs', 'text']) {
      const value = document.member(choice, name);
      if (value !== undefined) parts.push(...leaves(document, value, `${channel}${name}.`));
    }
    if (document.memberText(choice, 'finish_reason') !== undefined) ends.push(channel);
  }
  return { parts, ends };
}

/** All texts of a value; elements of lists that carry an index go by it. */
function leaves(document: JsonDocument, entry: number, channel: string): readonly StreamPart[] {
  switch (document.kind(entry)) {
    case kinds.string:
      return [{ entry, channel, isWhole: /arguments|partial_json/.test(channel) }];
    case kinds.array: {
      const parts: StreamPart[] = [];
      for (let at = entry + 1; at < document.next(entry); at = document.next(at)) {
        parts.push(...leaves(document, at, `${channel}${numberOf(document, at, 'index')}.`));
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

function numberOf(document: JsonDocument, object: number, name: string): string {
  const value = document.member(object, name);
  return value === undefined ? '' : document.raw(value);
}
