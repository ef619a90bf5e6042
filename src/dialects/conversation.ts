import type { Effort } from '../hosts/models.ts';
import { type Fields, toText } from './fields.ts';
import type { SseEvent } from './sse.ts';
import type { Seal } from './translation/seals.ts';
import type { Usage } from './usage.ts';

/**
 * The neutral form in which dialects meet when a request, an answer or a stream is translated.
 * Every dialect has a parser into it and a builder out of it; no dialect knows another one.
 */

export type ContentSource =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'text'; readonly text: string };

/** A picture is never spelled out. */
export type ImageSource = Exclude<ContentSource, { kind: 'text' }>;

/** `path` names the part's place in the client's request, for refusals. */
export type ContentPart = (
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'image';
      readonly source: ImageSource;
      readonly detail?: string | undefined;
      readonly path: string;
    }
  | {
      readonly kind: 'document';
      readonly source: ContentSource;
      readonly name?: string | undefined;
      readonly path: string;
    }
) & {
  /** `cache_control` as Anthropic has it, which clients of other dialects write too. */
  readonly breakpoint?: Fields | undefined;
};

/** A custom tool takes free text where a function takes a JSON object. */
export type CallKind = 'function' | 'custom';

export interface ToolName {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly kind: CallKind;
}

/** `input` is JSON text for a function and the plain text for a custom tool. */
export interface ToolCall extends ToolName {
  readonly id: string;
  readonly input: string;
  readonly seal?: Seal | undefined;
}

export interface ToolResult {
  readonly callId: string;
  readonly parts: readonly ContentPart[];
  readonly isError: boolean;
  readonly path: string;
}

export interface SystemTurn {
  readonly role: 'system';
  readonly isDeveloper: boolean;
  readonly text: string;
  readonly breakpoint?: Fields | undefined;
}

interface UserTurn {
  readonly role: 'user';
  readonly parts: readonly ContentPart[];
}

/** What a model thought before it went on, without what another vendor has signed. */
export interface Thought {
  readonly kind: 'thinking';
  readonly text: string;
  readonly seal?: Seal | undefined;
}

/** What a model said, in its order: a vendor that signs thoughts refuses them in another place. */
export interface AssistantTurn {
  readonly role: 'assistant';
  readonly parts: readonly AnswerPart[];
}

interface ResultsTurn {
  readonly role: 'results';
  readonly results: readonly ToolResult[];
}

export type Turn = SystemTurn | UserTurn | AssistantTurn | ResultsTurn;

export interface Tool extends ToolName {
  readonly description?: string | undefined;
  /** A function's JSON schema; absent for custom tools. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  readonly strict?: boolean | undefined;
  /** A custom tool's input format as the OpenAI dialects have it. */
  readonly format?: unknown;
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'required' | 'none' }
  | { readonly kind: 'tool'; readonly tool: ToolName };

export type AnswerFormat =
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema';
      readonly name: string;
      readonly schema: unknown;
      readonly strict?: boolean | undefined;
      readonly description?: string | undefined;
    };

/** What a client asks for, independent of any dialect. `system` holds the leading system turns, `turns` all others. */
export interface ConversationRequest {
  readonly system: readonly SystemTurn[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  /** Names of tools that only the client's usual provider could run. */
  readonly ownTools?: readonly string[] | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelCalls?: boolean | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly stop: readonly string[];
  readonly effort?: Effort | undefined;
  readonly format?: AnswerFormat | undefined;
  readonly verbosity?: string | undefined;
  readonly user?: string | undefined;
  readonly metadata?: unknown;
  readonly serviceTier?: string | undefined;
  readonly promptCacheKey?: string | undefined;
  readonly isStreaming: boolean;
}

export type FinishReason = 'stop' | 'sequence' | 'length' | 'calls' | 'filter';

export type AnswerPart =
  | Thought
  | { readonly kind: 'text' | 'refusal'; readonly text: string }
  | { readonly kind: 'call'; readonly call: ToolCall };

export interface Answer {
  readonly parts: readonly AnswerPart[];
  readonly finish: FinishReason;
  /** The stop sequence that matched, where the provider names it. */
  readonly stopSequence?: string | undefined;
  readonly usage?: Usage | undefined;
}

/** A provider's failure; `type` is Anthropic's name for it, `code` the provider's own, more specific word. */
export interface ProviderFailure {
  readonly type: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  /** The HTTP status, where there is one. */
  readonly status?: number | undefined;
  /** The gateway's own id of the exchange, for failures it found itself. */
  readonly requestId?: string | undefined;
}

export interface CallStart extends ToolName {
  readonly seal?: Seal | undefined;
  /** Counts the calls of this answer from 0 in the order they appear. */
  readonly index: number;
  readonly id: string;
}

/**
 * The neutral stream: a dialect's reader calls these as the provider's events pass, a dialect's writer
 * implements them. Method calls instead of event objects, because this runs once per token.
 */
export interface StreamSink {
  /** An event of the provider came that is no failure; called before what it says. */
  start(): void;
  thinking(text: string): void;
  /** Ends a thought, which may have no text. */
  seal(seal: Seal): void;
  text(text: string): void;
  refusal(text: string): void;
  callStart(call: CallStart): void;
  callInput(index: number, piece: string): void;
  /** No more input for this call. Readers that can't know leave it out; `complete` ends every call. */
  callEnd(index: number): void;
  ping(): void;
  /** Cumulative: replaces what was reported before. */
  usage(usage: Usage): void;
  complete(finish: FinishReason, stopSequence?: string): void;
  fail(failure: ProviderFailure): void;
}

export interface StreamReader {
  event(name: string | undefined, data: string): void;
  /** The provider's body ended; throws `provider.broken_response` when it was cut. */
  end(): void;
}

/** Writes a stream for the client, event by event. Usage is passed when it is written. */
export interface StreamWriter extends Omit<StreamSink, 'start' | 'usage' | 'complete'> {
  /** Called once, before everything but a failure. */
  start(usage: Usage): void;
  /** Whether it starts with nothing that the provider says, so that it may before the provider has said anything. */
  readonly startsEmpty?: true;
  /** As the dialect's. */
  readonly earlyHeartbeat?: SseEvent;
  complete(finish: FinishReason, usage: Usage, stopSequence?: string): void;
}

/** The thoughts, the texts and the calls of a turn, each in its order. */
export function thoughtsOf(parts: readonly AnswerPart[]): readonly Thought[] {
  return parts.filter((part) => part.kind === 'thinking');
}

export function textsOf(parts: readonly AnswerPart[]): readonly string[] {
  return parts.flatMap((part) => (part.kind === 'text' || part.kind === 'refusal' ? [part.text] : []));
}

export function callsOf(parts: readonly AnswerPart[]): readonly ToolCall[] {
  return parts.flatMap((part) => (part.kind === 'call' ? [part.call] : []));
}

/** Without thoughts that nothing follows, which some hosts refuse. */
export function withoutLastThoughts(parts: readonly AnswerPart[]): readonly AnswerPart[] {
  return parts.slice(0, parts.findLastIndex(({ kind }) => kind !== 'thinking') + 1);
}

/** Adds a text to the one before it, if that is the last part. */
export function addText(parts: AnswerPart[], text: string, separator = ''): void {
  const last = parts.at(-1);
  if (text === '') return;
  if (last?.kind === 'text') parts[parts.length - 1] = { kind: 'text', text: last.text + separator + text };
  else parts.push({ kind: 'text', text });
}

/** A call in a provider's answer. */
export function callPart(id: unknown, name: unknown, input: string, signature = ''): AnswerPart {
  const seal: Seal | undefined = signature === '' ? undefined : { of: 'call', data: signature };
  return { kind: 'call', call: { kind: 'function', id: toText(id), name: toText(name), input, seal } };
}

/** What an answer's model thought; nothing if there is neither a text nor a seal. */
export function thoughtPart(text: string, data = ''): AnswerPart[] {
  const seal: Seal | undefined = data === '' ? undefined : { of: 'thought', data };
  return text === '' && seal === undefined ? [] : [{ kind: 'thinking', text, seal }];
}

/** A part of a provider's answer; none if it has no text. */
export function textPart(kind: 'text' | 'refusal', text: string): AnswerPart[] {
  return text === '' ? [] : [{ kind, text }];
}
