import { usualImages } from '../../hosts/registry.ts';
import {
  type AnswerPart,
  type ContentPart,
  type ConversationRequest,
  type Thought,
  type ToolResult,
  type Turn,
  thoughtsOf,
  withoutLastThoughts,
} from '../conversation.ts';
import { type Dropped, type Fields, noteDropped } from '../fields.ts';
import type { TranslationContext } from '../translation/context.ts';
import { isPdf, markSystemText, toDocumentText } from '../translation/media.ts';
import { orderTurns } from '../translation/order-turns.ts';
import { sealFor, signatureOf } from '../translation/seals.ts';
import { type ToolNames, toArgumentsObject, toCallId } from '../translation/tool-names.ts';
import type { MediaPart } from '../translation/unsupported-content.ts';

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: Fields[];
}

/** What the messages depend on besides the conversation, and what is noted of them. */
interface Destination {
  readonly context: TranslationContext;
  readonly names: ToolNames;
  readonly dropped: Dropped;
}

/** System blocks and messages: consecutive user turns are one message, in which tool results come first. */
export function buildMessagesTurns(
  request: ConversationRequest,
  destination: Destination,
): { system: Fields[]; messages: Message[] } {
  const system = request.system.flatMap((turn) => textBlocks(turn.text, turn.breakpoint));
  const messages: Message[] = [];
  for (const turn of orderTurns(request.turns)) append(messages, turn, buildContent(turn, destination));
  // A request with nothing but a system prompt is fine in the OpenAI dialects and refused here.
  const only = messages.length === 0 ? system.pop() : undefined;
  if (only !== undefined) messages.push({ role: 'user', content: [only] });
  trimPrefill(messages);
  return { system, messages };
}

function append(messages: Message[], turn: Turn, content: Fields[]): void {
  const role = turn.role === 'assistant' ? 'assistant' : 'user';
  if (content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role !== role) {
    messages.push({ role, content });
    return;
  }
  // Not spread into the call: a call can only have some ten thousand arguments.
  for (const block of content) last.content.push(block);
}

function buildContent(turn: Turn, destination: Destination): Fields[] {
  switch (turn.role) {
    case 'system':
      return textBlocks(markSystemText(turn.text));
    case 'user':
      return turn.parts.flatMap(buildPart);
    case 'results':
      return turn.results.map(buildResult);
    case 'assistant':
      return buildAssistant(turn.parts, destination);
  }
}

/**
 * A turn of the model. Its thoughts are those of the same host, as they were signed there: all of them, because a turn in
 * which one is missing or another is refused.
 */
function buildAssistant(parts: readonly AnswerPart[], { context, names, dropped }: Destination): Fields[] {
  const isOwn = ({ seal }: Thought) => sealFor(seal, context) !== undefined;
  const areSigned = thoughtsOf(parts)
    .filter(isOwn)
    .every(({ text, seal }) => signatureOf(text, seal?.data ?? '') !== undefined);
  if (!areSigned) noteDropped(dropped, 'signed thinking');
  return withoutLastThoughts(parts).flatMap((part) => {
    if (part.kind === 'thinking') return areSigned && isOwn(part) ? buildThought(part) : [];
    if (part.kind !== 'call') return textBlocks(part.text);
    const { call } = part;
    const id = toCallId(call.id);
    return [{ type: 'tool_use', id, name: names.toWire(call), input: toArgumentsObject(call) }];
  });
}

function buildThought({ text, seal }: Thought): Fields[] {
  const signature = signatureOf(text, seal?.data ?? '');
  if (text === '') return [{ type: 'redacted_thinking', data: signature }];
  return [{ type: 'thinking', thinking: text, signature }];
}

/** A mark inside of a result counts as much as others: it is one of the whole result. */
function buildResult(result: ToolResult): Fields {
  const content = result.parts.map((part) => ({ ...part, breakpoint: undefined })).flatMap(buildPart);
  const breakpoint = result.parts.findLast((part) => part.breakpoint !== undefined)?.breakpoint;
  return {
    type: 'tool_result',
    tool_use_id: toCallId(result.callId),
    ...(content.length > 0 ? { content } : {}),
    ...(result.isError ? { is_error: true } : {}),
    ...cacheControl(breakpoint),
  };
}

// Blank text blocks are refused by the provider.
function textBlocks(text: string, breakpoint?: Fields): Fields[] {
  return text.trim() === '' ? [] : [{ type: 'text', text, ...cacheControl(breakpoint) }];
}

function buildPart(part: ContentPart): Fields[] {
  if (part.kind === 'text') return textBlocks(part.text, part.breakpoint);
  const block = part.kind === 'image' ? buildImage(part) : buildDocument(part);
  return [{ ...block, ...cacheControl(part.breakpoint) }];
}

function cacheControl(breakpoint: Fields | undefined): Fields {
  return breakpoint === undefined ? {} : { cache_control: breakpoint };
}

/** Why a host can't take a picture or a document. */
export function cannotTakeInMessages({ kind, source }: MediaPart): string | undefined {
  if (source.kind === 'url') return undefined;
  if (kind === 'document') {
    return isPdf(source) || toDocumentText(source) !== undefined
      ? undefined
      : 'only PDF and plain text documents can be read here';
  }
  return source.kind === 'base64' && usualImages.some((type) => type === source.mediaType)
    ? undefined
    : 'only JPEG, PNG, GIF and WebP pictures can be read here';
}

function buildImage({ source }: Extract<ContentPart, { kind: 'image' }>): Fields {
  if (source.kind === 'url') return { type: 'image', source: { type: 'url', url: source.url } };
  return { type: 'image', source: { type: 'base64', media_type: source.mediaType, data: source.data } };
}

function buildDocument({ source, name }: Extract<ContentPart, { kind: 'document' }>): Fields {
  const title = name === undefined ? {} : { title: name };
  const text = toDocumentText(source);
  if (text !== undefined) {
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title };
  }
  const url = source.kind === 'url' ? source.url : undefined;
  if (url !== undefined || source.kind !== 'base64')
    return { type: 'document', source: { type: 'url', url }, ...title };
  return {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: source.data },
    ...title,
  };
}

// A final assistant message is a prefill, which must not end in whitespace.
function trimPrefill(messages: readonly Message[]): void {
  const last = messages.at(-1);
  const block = last?.role === 'assistant' ? last.content.pop() : undefined;
  if (block === undefined) return;
  last?.content.push(block.type === 'text' ? { ...block, text: String(block.text).trimEnd() } : block);
}
