import type { JsonDocument } from '../json/json-document.ts';
import type {
  Answer,
  ConversationRequest,
  ProviderFailure,
  StreamReader,
  StreamSink,
  StreamWriter,
} from './conversation.ts';
import type { FieldTable } from './field-mapping.ts';
import type { Dropped, Fields } from './fields.ts';
import type { TranslationContext } from './translation/model-quirks.ts';
import type { ToolNames } from './translation/tool-names.ts';
import type { Usage } from './usage.ts';

/** The role of a text in a request, as policies name it. */
export type Role = 'system' | 'user' | 'assistant' | 'tool_result' | 'tool_definition';

/** The state of a rate limit, for `Dialect.limitHeaders`. */
export interface RateLimit {
  readonly unit: 'requests' | 'tokens';
  readonly max: number;
  readonly remaining: number;
  /** Milliseconds until all of it is available again. */
  readonly resetMs: number;
  readonly nowMs: number;
}

/**
 * One wire format: everything that the gateway knows about it. Fields that are not named here are still forwarded and
 * searched by policies; they are just not interpreted.
 */
export interface Dialect {
  /** Its name in the registry. */
  readonly name: string;
  /** The path that speaks it. */
  readonly path: `/v1/${string}`;
  readonly canStream: boolean;
  /** What OpenTelemetry's `gen_ai.operation.name` calls its requests. */
  readonly operation: 'chat' | 'embeddings';
  /** Whether a body that came without its path looks as if it were made for this dialect. */
  recognizes(body: Fields): boolean;
  /** Headers that mean something to its hosts alone: those that begin with the prefix, one of which is always sent. */
  readonly ownHeaders?: { readonly prefix: string; readonly always: readonly [name: string, value: string] };
  /** The rate-limit headers that its SDKs read, as a flat list of names and values. */
  limitHeaders(limit: RateLimit): readonly string[];
  /** Whether its hosts refuse a request without a cap on output. */
  readonly needsCap: boolean;
  /** The smallest cap that its hosts accept, in tokens; translation raises smaller ones. */
  readonly leastCap: number;
  /** Whether its hosts report the usage of a stream only if `stream_options.include_usage` asks for it. */
  readonly hasUsageOption: boolean;
  /** A field that names a conversation which the host keeps, so that no other host can go on with it. */
  readonly storedConversation?: string;
  /** Top-level fields that cap the output, each a whole number from 0. */
  readonly caps: readonly string[];
  /** Required top-level fields, besides `model`. */
  readonly required: readonly string[];
  /**
   * What the top-level fields contain: texts of one role, the turns of the conversation, or parts that the host joins to
   * one text apart from it. Texts there and anywhere else have every role, so that no rule can be evaded through an
   * unexpected field.
   */
  readonly places: ReadonlyMap<string, Role | 'turns' | 'parts'>;
  /** The role of one turn's texts; undefined counts as every role. */
  turnRole(document: JsonDocument, turn: number): Role | undefined;
  /**
   * The types that objects inside a turn may have: a role of their own (a tool result inside a user turn), or that of
   * what holds them. Texts of any other type count as of every role.
   */
  readonly blocks: ReadonlyMap<string, Role | 'outer'>;

  /** The usage in a whole answer. */
  answerUsage(answer: unknown): Usage | undefined;
  /** What one event of a stream adds to the usage known so far. */
  eventUsage(event: unknown, known: Usage | undefined): Usage | undefined;
  /** Whether a stream's event has nothing but the usage, which comes only if it was asked for. */
  isUsageEvent?(event: unknown): boolean;
  /** The members of a whole answer and of a stream's events that hold what the model wrote, for `countTextTokens`. */
  readonly writtenMembers: RegExp;
  /** Whether an event is the last one of a well-formed stream, as far as its first 100 bytes show. */
  isLastEvent(head: string): boolean;
  /** Whether a stream that ends after this event, without the usual last one, is still complete. */
  mayEndAfter(event: string): boolean;
  /** Whether its clients can read a provider's error answer, as it is parsed. */
  isErrorBody(body: unknown): boolean;
  /** The body of an error answer. */
  errorBody(failure: ProviderFailure): Fields;
  /** The event for a failure after the first byte of a stream; `sequence` counts the events before it. */
  errorEvent(failure: ProviderFailure, sequence: number): string;
  /** The answer in the form that the request asked for, if the host ignored that; undefined if nothing has to change. */
  adaptAnswer?(answer: unknown, request: JsonDocument): unknown;

  /** Absent if there is no conversation that could be translated. */
  readonly codec?: Codec;
}

/** A dialect that can be translated. */
export type TextDialect = Dialect & { readonly codec: Codec };

export function isText(dialect: Dialect): dialect is TextDialect {
  return dialect.codec !== undefined;
}

/** How a dialect's requests, answers and streams become the neutral form of `conversation.ts`, and come out of it. */
export interface Codec {
  parseRequest(body: Fields, dropped: Dropped): ConversationRequest;
  buildRequest(
    request: ConversationRequest,
    context: TranslationContext,
    names: ToolNames,
    dropped: Dropped,
  ): Fields;
  /** The stop sequences that its hosts act on; the gateway handles the others. */
  stopSequences(asked: readonly string[]): readonly string[];
  parseAnswer(body: Fields): Answer;
  /** What its answers repeat of the client's request, or depend on: plain data. Absent if they don't. */
  echoOf?(request: Fields): Fields;
  buildAnswer(answer: Answer, context: TranslationContext, echo: Fields): Fields;
  createReader(sink: StreamSink): StreamReader;
  createWriter(context: TranslationContext, echo: Fields): StreamWriter;
  /** The mapping of each field of its requests, by the provider's dialect; the closest dialect first. */
  readonly mappingsTo: Readonly<Record<string, FieldTable>>;
  /** The same for requests of other dialects, by the client's: those that don't know this dialect themselves. */
  readonly mappingsFrom?: Readonly<Record<string, FieldTable>>;
}

/** The value of the field that holds the system's texts or the turns; no dialect has two of either. */
export function fieldOf(
  document: JsonDocument,
  dialect: Dialect,
  place: 'system' | 'turns',
): number | undefined {
  for (const [name, held] of dialect.places) if (held === place) return document.member(document.root, name);
  return undefined;
}

/** Block types that have the role of what holds them, for `Dialect.blocks`. */
export function ofOuterRole(...types: readonly string[]): readonly (readonly [string, 'outer'])[] {
  return types.map((type) => [type, 'outer'] as const);
}

/** Block types of one role, for `Dialect.blocks`. */
export function ofRole(role: Role, ...types: readonly string[]): readonly (readonly [string, Role])[] {
  return types.map((type) => [type, role] as const);
}
