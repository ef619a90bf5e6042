import { type HostedModel, traitsOf } from '../../hosts/find-host.ts';
import { type ByteEdit, memberEdit, removals, textEdit } from '../../json/byte-edits.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { bytesSlot, isOurSeal, sealStart, skipsValidator } from './seals.ts';

/**
 * Whether a body may have something that the gateway has sealed. Without the quote before it: `includes` stops at each
 * first character that it seeks, and quotes are everywhere.
 */
export function mayHaveSeals({ bytes }: JsonDocument, dialect: string): boolean {
  return bytes.includes(dialect === 'gemini' ? bytesSlot.start : sealStart);
}

/**
 * The edits that rid a body of what the gateway has sealed. A conversation that began at a translated host may go on, after
 * a fallback or a change of the model, at one that speaks the client's own dialect: it gets the client's bytes, and would
 * refuse a signature that is not its own.
 */
export function sealEdits(document: JsonDocument, dialect: string, model: HostedModel): readonly ByteEdit[] {
  switch (dialect) {
    case 'messages':
      return messagesEdits(document);
    case 'responses':
      return responsesEdits(document);
    case 'chat':
      return chatEdits(document, traitsOf(model).reasoning === 'extra_content');
    case 'gemini':
      return geminiEdits(document);
    default:
      return [];
  }
}

function elementsOf(document: JsonDocument, object: number, name: string): number[] {
  const list = document.member(object, name);
  return list === undefined ? [] : [...document.elements(list)];
}

function isSealed(document: JsonDocument, object: number, name: string): boolean {
  return isOurSeal(document.memberText(object, name) ?? '');
}

/** Cuts those elements of a list that are meant; nothing if there is no list. */
function cutElements(
  document: JsonDocument,
  object: number,
  name: string,
  isCut: (element: number) => boolean,
): ByteEdit[] {
  const list = document.member(object, name);
  return list === undefined || document.kind(list) !== kinds.array ? [] : removals(document, list, isCut);
}

function cutMember(document: JsonDocument, object: number, name: string): ByteEdit[] {
  if (document.kind(object) !== kinds.object) return [];
  return removals(document, object, (key) => document.isText(key, name));
}

// ---------------------------------------------------------------- messages

function messagesEdits(document: JsonDocument): ByteEdit[] {
  const { root } = document;
  const isThought = (block: number) =>
    isSealed(document, block, 'signature') || isSealed(document, block, 'data');
  const messages = elementsOf(document, root, 'messages');
  const emptied = new Set(
    messages.filter((message) => {
      const blocks = elementsOf(document, message, 'content');
      return blocks.length > 0 && blocks.every(isThought);
    }),
  );
  const last = messages.findLast((message) => document.memberText(message, 'role') === 'assistant');
  return [
    ...messages.flatMap((message) => cutElements(document, message, 'content', isThought)),
    ...cutElements(document, root, 'messages', (message) => emptied.has(message)),
    ...(last !== undefined && isUnsignedToolTurn(document, last, isThought) ? noThinking(document) : []),
  ];
}

/** Whether the turn has calls and lost the thought that it must begin with while thinking has a budget. */
function isUnsignedToolTurn(
  document: JsonDocument,
  message: number,
  isThought: (block: number) => boolean,
): boolean {
  const blocks = elementsOf(document, message, 'content');
  const kept = blocks.filter((block) => !isThought(block));
  const typeOf = (block: number | undefined) =>
    block === undefined ? '' : (document.memberText(block, 'type') ?? '');
  return (
    kept.length < blocks.length &&
    kept.some((block) => typeOf(block) === 'tool_use') &&
    !['thinking', 'redacted_thinking'].includes(typeOf(kept[0]))
  );
}

/** Thinking by effort has no such rule. What edits the context by its thoughts needs thinking, so it goes with it. */
function noThinking(document: JsonDocument): ByteEdit[] {
  const { root } = document;
  const thinking = document.member(root, 'thinking');
  if (thinking === undefined || document.memberText(thinking, 'type') !== 'enabled') return [];
  return [
    memberEdit(document, root, { name: 'thinking', value: '{"type":"disabled"}' }),
    ...cutMember(document, root, 'context_management'),
  ];
}

// ---------------------------------------------------------------- the others

function responsesEdits(document: JsonDocument): ByteEdit[] {
  return cutElements(document, document.root, 'input', (item) =>
    isSealed(document, item, 'encrypted_content'),
  );
}

function chatEdits(document: JsonDocument, takesSkipWord: boolean): ByteEdit[] {
  return elementsOf(document, document.root, 'messages').flatMap((message) => [
    ...(elementsOf(document, message, 'reasoning_details').some((each) => isSealed(document, each, 'data'))
      ? cutMember(document, message, 'reasoning_details')
      : []),
    ...elementsOf(document, message, 'tool_calls').flatMap((call) => {
      const extra = document.member(call, 'extra_content');
      const google = extra === undefined ? undefined : document.member(extra, 'google');
      if (google === undefined || !isSealed(document, google, 'thought_signature')) return [];
      if (!takesSkipWord) return cutMember(document, call, 'extra_content');
      return skipSignature(document, google, 'thought_signature');
    }),
  ]);
}

/** In both spellings that Google takes. */
const signatureNames = ['thoughtSignature', 'thought_signature'];

function geminiEdits(document: JsonDocument): ByteEdit[] {
  return elementsOf(document, document.root, 'contents').flatMap((content) =>
    elementsOf(document, content, 'parts').flatMap((part) =>
      signatureNames.flatMap((name) => {
        const signature = bytesSlot.read(document.memberText(part, name) ?? '');
        return isOurSeal(signature) ? skipSignature(document, part, name) : [];
      }),
    ),
  );
}

/** A call without a signature would be refused. */
function skipSignature(document: JsonDocument, object: number, name: string): ByteEdit[] {
  const value = document.member(object, name);
  return value === undefined ? [] : [textEdit(document, value, skipsValidator)];
}
