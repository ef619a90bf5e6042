import { type JsonDocument, kinds } from '../json/json-document.ts';
import type {
  Answer,
  ConversationRequest,
  ProviderFailure,
  StreamReader,
  StreamSink,
  StreamWriter,
} from './conversation.ts';
import type { FieldTable } from './field-table.ts';
import { type Dropped, type Fields, toCount, toFields, toList } from './fields.ts';
import type { SseEvent, WriteEvent } from './sse.ts';
import type { TranslationContext } from './translation/context.ts';
import type { ToolNames } from './translation/tool-names.ts';
import type { MediaPart } from './translation/unsupported-content.ts';
import { countTextTokens, type Tally, type Usage } from './usage.ts';

/** The role of a text in a request, as policies name it. */
export type Role = 'system' | 'user' | 'assistant' | 'tool_result' | 'tool_definition';

/** What a member of a block is, for `Dialect.members`. */
export type MemberUse = 'prose' | 'label' | 'id' | 'heading' | 'bytes' | 'wrapper' | 'input' | 'call';

/** The state of a rate limit, for `Dialect.limitHeaders`. */
export interface RateLimit {
  readonly unit: 'requests' | 'tokens';
  readonly max: number;
  readonly remaining: number;
  /** Milliseconds until all of it is available again. */
  readonly resetMs: number;
  readonly nowMs: number;
}

/** One way to call a dialect. */
export interface Method {
  /** `{model}` stands for the model's name, if that is in the path and not in the body. */
  readonly path: `/v1${string}`;
  /** What a host needs in the query, without the question mark. */
  readonly query?: string;
  /** Whether it is answered by a stream; `asked`: if the body's `stream` is true. */
  readonly stream: boolean | 'asked';
  /** Set if it counts tokens and generates nothing: builds the answer with that count. */
  readonly countAnswer?: (tokens: number) => Fields;
  /** Set if no other dialect has its like, so that its requests go to hosts of this one alone, untranslated. */
  readonly isUntranslatable?: true;
}

/** A list of models in the form of one dialect's clients. */
export interface ModelList {
  /** The path of the list; one model is below it. */
  readonly path: `/v1${string}`;
  /** The header by which its clients are known at `/v1/models`, where others get another form. */
  readonly header: string;
  entry(model: ListedModel): Fields;
  list(entries: readonly Fields[]): Fields;
}

export interface ListedModel {
  readonly id: string;
  readonly contextWindow: number | undefined;
  readonly maxOutputTokens: number | undefined;
}

/**
 * One wire format: everything that the gateway knows about it. Fields that are not named here are still forwarded and
 * searched by policies; they are just not interpreted.
 *
 * @example
 * The smallest is `embeddings/embeddings.ts`; that of a made-up API at `/v1/complete` begins
 * ```ts
 * export const complete: Dialect = {
 *   name: 'complete',
 *   methods: [{ path: '/v1/complete', stream: false }],
 *   operation: 'chat',
 *   caps: ['max_tokens'],
 *   required: ['prompt'],
 *   places: new Map([['system', 'system'], ['prompt', 'user']]),
 *   …
 * ```
 */
export interface Dialect {
  /** Its name in the registry. */
  readonly name: string;
  /** The ways to call it, first those that generate. */
  readonly methods: readonly [Method, ...Method[]];
  /** Where its clients find models, if not at `/v1/models`. */
  readonly modelList?: ModelList;
  /** What OpenTelemetry's `gen_ai.operation.name` calls its requests. */
  readonly operation: 'chat' | 'embeddings';
  /** Whether a body that came without its path looks as if it were made for this dialect. */
  recognizes(body: Fields): boolean;
  /**
   * Headers that mean something to its hosts alone: those that begin with the prefix; `always` is the one that may
   * always be sent.
   */
  readonly ownHeaders?: {
    readonly prefix: string;
    readonly always?: readonly [name: string, value: string];
  };
  /** The rate-limit headers that its SDKs read, as a flat list of names and values. */
  limitHeaders(limit: RateLimit): readonly string[];
  /** Set if its hosts refuse a request without a cap on output. */
  readonly needsCap?: true;
  /** The smallest cap that its hosts accept, in tokens, if not any; translation raises smaller ones. */
  readonly minCap?: number;
  /** Set if its hosts report the usage of a stream only if `stream_options.include_usage` asks for it. */
  readonly hasUsageOption?: true;
  /** A field that asks a host to write its answer later, to be fetched. */
  readonly laterField?: string;
  /** A field that names a conversation which the host keeps, so that no other host can go on with it. */
  readonly storedConversation?: string;
  /** Fields that cap the output, by their paths (`generationConfig.maxOutputTokens`); each a whole number from 0. */
  readonly caps: readonly string[];
  /** The field for how many answers are asked for, in each of its spellings; `n` by default. */
  readonly answerCounts?: readonly string[];
  /** Required top-level fields, besides `model`. */
  readonly required: readonly string[];
  /**
   * What the top-level fields contain: texts of one role, the turns of the conversation, a title that hosts put before the
   * user's texts, parts that the host joins to one text apart from it, or a whole request again. Texts there and anywhere
   * else have every role, so that no rule can be evaded through an unexpected field.
   */
  readonly places: ReadonlyMap<string, Role | 'turns' | 'title' | 'parts' | 'request'>;
  /** Top-level fields that no other dialect has, whose texts are ids, choices and schemas; services aren't asked about them. */
  readonly settings?: readonly string[];
  /** The role of one turn's texts; undefined counts as every role. */
  turnRole(document: JsonDocument, turn: number): Role | undefined;
  /**
   * The types that objects inside a turn may have: a role of their own (a tool result inside a user turn), or that of
   * what holds them. Texts of any other type count as of every role.
   */
  readonly blocks: ReadonlyMap<string, Role | 'outer'>;
  /** The member of a turn that holds its blocks; `content` by default. */
  readonly blockList?: string;
  /** The type of a block that doesn't name one: what it holds. */
  blockType?(document: JsonDocument, block: number): string | undefined;
  /** How members are read that no other dialect has (`policy/traverse/reading-order.ts`). */
  readonly members?: Readonly<Partial<Record<MemberUse, readonly string[]>>>;
  /**
   * The members of a tool that declare functions, if its other members are tools of the provider, each by its name
   * (`{ googleSearch: {} }`); the paths of lists that name the functions that may be called; and the members of a request
   * besides the known ones whose names say nothing about tools.
   */
  readonly toolMembers?: {
    readonly declarations: readonly string[];
    readonly choices: readonly string[];
    readonly others: readonly string[];
  };

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
  /**
   * The answers that an event of a stream goes on with, by their index, and whether it finishes them: a stream that ends
   * without the usual last event is still complete if they all were finished.
   */
  finishes(event: unknown): ReadonlyMap<number, boolean>;
  /** Whether its clients can read a provider's error answer, as it is parsed. */
  isErrorBody(body: unknown): boolean;
  /** Set if its clients read errors of this form only, so that the gateway's own have it too. */
  readonly hasOwnErrors?: true;
  /** The body of an error answer. */
  errorBody(failure: ProviderFailure): Fields;
  /** The event for a failure after the first byte of a stream; `sequence` counts the events before it. */
  errorEvent(failure: ProviderFailure, sequence: number): SseEvent;
  /** What its clients ignore in a stream, once it has begun, as a sign of life; by default a comment. */
  readonly heartbeat?: SseEvent;
  /** The same before its first event. */
  readonly earlyHeartbeat?: SseEvent;
  /** The form of an answer that a request asks for. */
  askedForm?(request: JsonDocument): string | undefined;
  /** The answer in the form that was asked for, if the host ignored that; undefined if nothing has to change. */
  adaptAnswer?(answer: unknown, form: string | undefined): unknown;

  /** What becomes of the fields of its requests in translation, by the provider's dialect; the closest dialect first. */
  readonly fieldsTo?: Readonly<Record<string, FieldTable>>;
  /** The same for requests of other dialects, by the client's: those that don't know this dialect themselves. */
  readonly fieldsFrom?: Readonly<Record<string, FieldTable>>;
  /** Absent if there is no conversation that could be translated. A getter, as its code is read with the first use. */
  readonly codec?: Codec;
  /** The same for embeddings. */
  readonly embeddingCodec?: EmbeddingCodec;
}

/** What happens to the client's fields; undefined if one dialect can't be translated to the other. */
export function tableBetween(client: Dialect, provider: Dialect): FieldTable | undefined {
  return client.fieldsTo?.[provider.name] ?? provider.fieldsFrom?.[client.name];
}

export const nothingFinished: ReadonlyMap<number, boolean> = new Map();
/** An event with which the one answer of a stream ends. */
export const finishedWhole: ReadonlyMap<number, boolean> = new Map([[0, true]]);

/** `Dialect.finishes` of events that list the answers which they go on with: choices or candidates. */
export function finishesOf(
  answers: unknown,
  isFinished: (answer: Fields) => boolean,
): ReadonlyMap<number, boolean> {
  const fields = toList(answers).map(toFields);
  return new Map(fields.map((answer) => [toCount(answer.index), isFinished(answer)]));
}

/** The method for a request that the gateway builds. */
export function methodFor({ methods }: Dialect, stream: boolean): Method {
  return methods.find((method) => method.stream === 'asked' || method.stream === stream) ?? methods[0];
}

/** A dialect that can be translated. */
export type TextDialect = Dialect & { readonly codec: Codec };

/** A dialect of embeddings that can be translated. */
export type EmbeddingDialect = Dialect & { readonly embeddingCodec: EmbeddingCodec };

export function isEmbedding(dialect: Dialect): dialect is EmbeddingDialect {
  return dialect.embeddingCodec !== undefined;
}

export function isText(dialect: Dialect): dialect is TextDialect {
  return 'codec' in dialect;
}

/** An answer of the dialect in its other form. */
export interface AnswerForms {
  /** The events that say the same as a whole answer. */
  events(answer: Fields): readonly SseEvent[];
  /** The whole answer that says the same as the events, given by what their data says. */
  whole(events: readonly Fields[]): Fields;
}

/** How a dialect's requests, answers and streams become the neutral form of `conversation.ts`, and come out of it. */
export interface Codec {
  /** The request with each of its top-level fields in one spelling, if there are several. */
  normalize?(body: Fields): Fields;
  parseRequest(body: Fields, dropped: Dropped): ConversationRequest;
  buildRequest(
    request: ConversationRequest,
    context: TranslationContext,
    names: ToolNames,
    dropped: Dropped,
  ): Fields;
  /** Why a host can't take a picture or a document; undefined if it can. */
  cannotTake(part: MediaPart, context: TranslationContext): string | undefined;
  /** The stop sequences that its hosts act on; the gateway handles the others. */
  stopSequences(asked: readonly string[]): readonly string[];
  parseAnswer(body: Fields): Answer;
  /** What its answers repeat of the client's request, or depend on: plain data. Absent if they don't. */
  echoOf?(request: Fields): Fields;
  buildAnswer(answer: Answer, context: TranslationContext, echo: Fields): Fields;
  /** Absent if no host answers in another form than it is asked for. */
  readonly forms?: AnswerForms;
  createReader(sink: StreamSink): StreamReader;
  /** `write` gets each event as text. */
  createWriter(context: TranslationContext, echo: Fields, write: WriteEvent): StreamWriter;
}

/** The value of the field that holds the system's texts or the turns, in whichever of its spellings. */
export function fieldOf(
  document: JsonDocument,
  dialect: Dialect,
  place: 'system' | 'turns',
  object: number = document.root,
): number | undefined {
  for (const name of fieldsWith(dialect, place)) {
    const entry = document.member(object, name);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

type Held = ReturnType<Dialect['places']['get']> & string;
const none: readonly string[] = [];
const knownFields = new WeakMap<Dialect['places'], Map<Held, readonly string[]>>();

/** The fields of a dialect's requests that hold this: asked for several times for each request. */
export function fieldsWith({ places }: Pick<Dialect, 'places'>, held: Held): readonly string[] {
  const known = knownFields.get(places);
  if (known !== undefined) return known.get(held) ?? none;
  const byHeld = new Map<Held, string[]>();
  for (const [name, each] of places) byHeld.set(each, [...(byHeld.get(each) ?? []), name]);
  knownFields.set(places, byHeld);
  return byHeld.get(held) ?? none;
}

const rootAlone = [0];

/** The request, and any request nested in it, such as one whose tokens are to be counted. */
export function requestsIn(document: JsonDocument, dialect: Dialect): readonly number[] {
  const names = fieldsWith(dialect, 'request');
  if (names.length === 0) return rootAlone;
  const nested = names.flatMap((name) => document.member(document.root, name) ?? []);
  return [document.root, ...nested.filter((entry) => document.kind(entry) === kinds.object)];
}

/** The value of a field by its path (`generationConfig.maxOutputTokens`), in the request or an object in it. */
export function memberAt(
  document: JsonDocument,
  path: string,
  object: number = document.root,
): number | undefined {
  const dot = path.indexOf('.');
  if (dot < 0) return document.member(object, path);
  const inner = document.member(object, path.slice(0, dot));
  return inner === undefined ? undefined : memberAt(document, path.slice(dot + 1), inner);
}

/** Types of blocks by the role of their texts, for `Dialect.blocks`: names with spaces between. */
export function blockTypes(types: Readonly<Partial<Record<Role | 'outer', string>>>): Dialect['blocks'] {
  const roles = Object.entries(types) as [Role | 'outer', string][]; // of the type's members
  return new Map(roles.flatMap(([role, names]) => names.split(/\s+/).map((name) => [name, role])));
}

/** The neutral form in which dialects of embeddings meet: texts, and a vector for each. */
interface EmbeddingRequest {
  readonly texts: readonly string[];
  /** The length of the vectors, if the client asks for one. */
  readonly dimensions?: number | undefined;
  readonly user?: string | undefined;
}

interface Embeddings {
  readonly vectors: readonly (readonly unknown[])[];
  readonly usage?: Usage | undefined;
}

/** How a dialect's requests and answers become the neutral form, and come out of it. */
export interface EmbeddingCodec {
  /** The request with each of its top-level fields in one spelling, if there are several. */
  normalize?(body: Fields): Fields;
  parseRequest(body: Fields, dropped: Dropped): EmbeddingRequest;
  buildRequest(request: EmbeddingRequest, context: TranslationContext, dropped: Dropped): Fields;
  /** Throws provider.broken_response. */
  parseAnswer(body: Fields): Embeddings;
  /** What the form of an answer depends on: plain data of the client's request. */
  echoOf(request: Fields): Fields;
  buildAnswer(answer: Embeddings, context: TranslationContext, echo: Fields): Fields;
}

/** What a provider's whole answer used: parsed, and its bytes. */
export function tallyAnswer(dialect: Dialect, answer: unknown, bytes: Buffer): Tally {
  const usage = dialect.answerUsage(answer);
  const isReported = usage !== undefined && usage.isPartial !== true && usage.outputTokens > 0;
  if (isReported) return { usage, unreportedTokens: 0 };
  return { usage, unreportedTokens: countTextTokens(bytes.toString('latin1'), dialect.writtenMembers) };
}
