import { GatewayError } from '../errors.ts';
import { traitsOf } from '../hosts/find-host.ts';
import type { StreamReader, StreamSink, StreamWriter } from './conversation.ts';
import {
  type Dialect,
  type EmbeddingDialect,
  isEmbedding,
  isText,
  type TextDialect,
  tableBetween,
  tallyAnswer,
} from './dialect.ts';
import { parseFailure, toFailure } from './failure.ts';
import { applyTable, type FieldTable } from './field-table.ts';
import { brokenAnswer, type Dropped, type Fields, isFields, parseFields } from './fields.ts';
import { pingComment, type SseEvent, type WriteEvent } from './sse.ts';
import type { TranslationContext } from './translation/context.ts';
import { fitConversation } from './translation/fit-conversation.ts';
import { cutAnswer, cutStream, endedBy, stopsToCut } from './translation/stop-sequences.ts';
import { createToolNames, type WireNames } from './translation/tool-names.ts';
import { replaceUnsupported } from './translation/unsupported-content.ts';
import { restoreAnswer, restoreCalls } from './translation/unwrap-stream.ts';
import { countTextTokens, noUsage, StreamTally, type Tally, type Usage } from './usage.ts';

/** What the translation of an answer needs of its request: plain data, so that another thread can translate that. */
export interface AnswerContext {
  readonly names: WireNames;
  /** What the answer repeats. */
  readonly echo: Fields;
  /** Stop sequences that the client asked for, and those of them that the provider does not act on. */
  readonly asked: readonly string[];
  readonly stops: readonly string[];
  /** Characters of the provider's request, for an estimate of its tokens; 0 if no answer can be cut. */
  readonly sentLength: number;
}

/** One exchange between a client and a provider of different dialects. `request` comes first, or its context is given. */
export interface Translation {
  /**
   * The provider's request, and the names of what was left out. Throws `request.field` for a malformed field
   * and `request.unsupported` for one that can't be carried over, both with `param`.
   */
  request(body: unknown): { body: unknown; dropped: readonly string[] };
  /** For a translation of the same context in another thread; of a large request. */
  answerContext(): AnswerContext;
  /** Translates a provider's whole answer; throws `provider.broken_response` if it is not one. */
  answer(body: unknown): { body: unknown };
  /** What a provider's whole answer used, also if it can't be translated: parsed, and its bytes. */
  tally(body: unknown, bytes: Buffer): Tally;
  /** A provider's error body of any shape (parsed, or text) in the client's dialect. */
  error(status: number, body: unknown): unknown;
  stream(): StreamTranslation;
}

/** `cut`: complete for the client at a stop sequence that the provider doesn't know, so the provider must be aborted. */
export type StreamState = 'open' | 'complete' | 'cut' | 'failed';

/** The translation of one stream. Its methods return what the client gets, which may be nothing. */
export interface StreamTranslation {
  /** One event of the provider; throws `provider.broken_response` where it makes no sense. */
  event(name: string | undefined, data: string): readonly SseEvent[];
  /** A comment of the provider's, with which hosts say that they still work on an answer. */
  comment(): readonly SseEvent[];
  /** The provider's body ended. Throws `provider.broken_response` when the answer was cut. */
  end(): readonly SseEvent[];
  /**
   * The event for a failure after the first byte, preceded by whatever has not been returned yet. It never looks like a
   * finished answer.
   */
  fail(error: GatewayError, requestId: string): readonly SseEvent[];
  /** What the client ignores at any place of the stream. */
  readonly earlyHeartbeat: SseEvent;
  /** In every state but open the client has its last event, and nothing more will come. */
  readonly state: StreamState;
  readonly tally: Tally;
}

/** Characters of a request's members that an answer repeats; of more, nothing is repeated. */
const echoLimit = 1_048_576;

/** A translation for one exchange: what the request asked for decides how its answer is written. */
export function createTranslation(
  client: Dialect,
  provider: Dialect,
  context: TranslationContext,
  known?: AnswerContext,
): Translation {
  const table = tableBetween(client, provider);
  if (table !== undefined && isText(client) && isText(provider)) {
    return translateConversation({ client, provider, table, context }, known);
  }
  if (table !== undefined && isEmbedding(client) && isEmbedding(provider)) {
    return translateEmbeddings({ client, provider, table, context }, known);
  }
  throw new GatewayError('gateway.internal', `${client.name} cannot be translated to ${provider.name}`);
}

interface Between<Kind extends Dialect> {
  readonly client: Kind;
  readonly provider: Kind;
  readonly table: FieldTable;
  readonly context: TranslationContext;
}

function translateConversation(
  { client, provider, table, context }: Between<TextDialect>,
  known?: AnswerContext,
): Translation {
  const names = createToolNames(known?.names);
  const echoOf = client.codec.echoOf ?? (() => ({}));
  let { echo = {}, asked: wanted = [], stops = [], sentLength = 0 }: Partial<AnswerContext> = known ?? {};

  return {
    request(body) {
      const sent = parseFields(body, 'body');
      const asked = client.codec.normalize?.(sent) ?? sent;
      echo = echoOf(asked);
      const dropped: Dropped = new Set();
      const kept = applyTable(asked, table, context, dropped);
      const parsed = client.codec.parseRequest(kept, dropped);
      const takeable = replaceUnsupported(parsed, { ...provider.codec, context, dropped });
      const fitted = fitConversation(takeable, context, dropped);
      const neutral = { ...fitted, isStreaming: context.isStreaming ?? parsed.isStreaming };
      // Before the history, which may refer to a tool by another name than it is offered under now.
      for (const tool of neutral.tools) names.toWire(tool);
      wanted = neutral.stop.filter((stop) => stop !== '');
      const stop = traitsOf(context).stopSequences ? provider.codec.stopSequences(wanted) : [];
      stops = stopsToCut(wanted, stop);
      const built = provider.codec.buildRequest({ ...neutral, stop }, context, names, dropped);
      if (stops.length > 0) sentLength = JSON.stringify(built).length;
      return { body: built, dropped: [...dropped] };
    },
    answerContext() {
      // The first event repeats it.
      const isLong = JSON.stringify(echo).length > echoLimit;
      return { names: names.renamed(), echo: isLong ? echoOf({}) : echo, asked: wanted, stops, sentLength };
    },
    answer(body) {
      if (!isFields(body)) throw brokenAnswer('is not a JSON object');
      const answer = cutAnswer(restoreAnswer(provider.codec.parseAnswer(body), names), stops);
      const ended = { ...answer, ...endedBy(answer.finish, answer.stopSequence, wanted) };
      return { body: client.codec.buildAnswer(ended, context, echo) };
    },
    tally: (body, bytes) => tallyAnswer(provider, body, bytes),
    error: (status, body) => client.errorBody(parseFailure(body, status)),
    stream() {
      const stream: TranslatedEvents = new TranslatedEvents(provider.writtenMembers, {
        createWriter: (write) => client.codec.createWriter(context, echo, write),
        asked: wanted,
        createReader: (sink) =>
          provider.codec.createReader(
            restoreCalls(
              cutStream(sink, stops, () => stream.cut(sentLength)),
              names,
            ),
          ),
      });
      return stream;
    },
  };
}

function translateEmbeddings(
  { client, provider, table, context }: Between<EmbeddingDialect>,
  known?: AnswerContext,
): Translation {
  let { echo = {} }: Partial<AnswerContext> = known ?? {};
  return {
    request(body) {
      const sent = parseFields(body, 'body');
      const asked = client.embeddingCodec.normalize?.(sent) ?? sent;
      const dropped: Dropped = new Set();
      const request = client.embeddingCodec.parseRequest(applyTable(asked, table, context, dropped), dropped);
      echo = { ...client.embeddingCodec.echoOf(asked), count: request.texts.length };
      return { body: provider.embeddingCodec.buildRequest(request, context, dropped), dropped: [...dropped] };
    },
    answerContext: () => ({ names: createToolNames().renamed(), echo, asked: [], stops: [], sentLength: 0 }),
    answer(body) {
      if (!isFields(body)) throw brokenAnswer('is not a JSON object');
      const answer = provider.embeddingCodec.parseAnswer(body);
      if (answer.vectors.length !== echo.count) throw brokenAnswer('has another number of embeddings');
      return { body: client.embeddingCodec.buildAnswer(answer, context, echo) };
    },
    tally: (body, bytes) => tallyAnswer(provider, body, bytes),
    error: (status, body) => client.errorBody(parseFailure(body, status)),
    stream() {
      throw new GatewayError('gateway.internal', `${client.name} has no streams`);
    },
  };
}

interface StreamEnds {
  /** The stop sequences that the client asked for. */
  readonly asked: readonly string[];
  createWriter(write: WriteEvent): StreamWriter;
  createReader(sink: StreamSink): StreamReader;
}

const nothing: readonly SseEvent[] = [];
const beyondAscii = /[^ -~]/;

/** A class, because each object literal with getters would get its own hidden class. */
class TranslatedEvents implements StreamTranslation {
  #state: StreamState = 'open';
  readonly #tally = new StreamTally();
  /** Usage as it is sent to the client. */
  #usage: Usage = noUsage;
  #isStarted = false;
  /** What the client gets next. */
  #out: SseEvent[] | undefined;
  /** Characters of the answer so far. */
  #length = 0;
  readonly #writer: StreamWriter;
  readonly #writtenMembers: RegExp;
  readonly #reader: StreamReader;

  constructor(writtenMembers: RegExp, { asked, createWriter, createReader }: StreamEnds) {
    const writer = createWriter((name, data) => {
      // Nearly always the only one of its event, and the first push would make room for many.
      if (this.#out === undefined) this.#out = [{ name, data }];
      else this.#out.push({ name, data });
    });
    this.#writer = writer;
    this.#writtenMembers = writtenMembers;
    const counted =
      (write: (text: string) => void) =>
      (text: string): void => {
        this.#length += text.length;
        write(text);
      };
    this.#reader = createReader({
      refusal: writer.refusal,
      seal: writer.seal,
      callStart: writer.callStart,
      callInput: writer.callInput,
      callEnd: writer.callEnd,
      ping: writer.ping,
      start: () => {
        if (!this.#isStarted) writer.start(this.#usage);
        this.#isStarted = true;
      },
      text: counted(writer.text),
      thinking: counted(writer.thinking),
      usage: (latest) => {
        this.#tally.report(latest);
        this.#usage = latest;
      },
      complete: (finish, stopSequence) => {
        const ended = endedBy(finish, stopSequence, asked);
        writer.complete(ended.finish, this.#usage, ended.stopSequence);
        if (this.#state === 'open') this.#state = 'complete';
      },
      fail: (failure) => {
        writer.fail(failure);
        this.#state = 'failed';
      },
    });
  }

  get state(): StreamState {
    return this.#state;
  }

  get earlyHeartbeat(): SseEvent {
    return this.#writer.earlyHeartbeat ?? pingComment;
  }

  get tally(): Tally {
    return this.#tally;
  }

  event(name: string | undefined, data: string): readonly SseEvent[] {
    if (this.#state !== 'open') return nothing;
    // Printable ASCII is the same as its UTF-8 read as Latin-1.
    const latin1 = beyondAscii.test(data) ? Buffer.from(data).toString('latin1') : data;
    this.#tally.addText(countTextTokens(latin1, this.#writtenMembers));
    this.#reader.event(name, data);
    return this.#take();
  }

  comment(): readonly SseEvent[] {
    if (this.#state !== 'open') return nothing;
    if (!this.#isStarted && this.#writer.startsEmpty === true) {
      this.#writer.start(this.#usage);
      this.#isStarted = true;
    }
    // Some clients take no event before that which begins the answer.
    if (this.#isStarted) this.#writer.ping();
    else this.#out = [this.earlyHeartbeat];
    return this.#take();
  }

  end(): readonly SseEvent[] {
    if (this.#state === 'open') this.#reader.end();
    return this.#take();
  }

  fail(error: GatewayError, requestId: string): readonly SseEvent[] {
    this.#state = 'failed';
    this.#writer.fail(toFailure(error, requestId));
    return this.#take();
  }

  #take(): readonly SseEvent[] {
    const events = this.#out ?? nothing;
    this.#out = undefined;
    return events;
  }

  /** The answer ends at a stop sequence, before the provider has reported its usage: the client gets an estimate. */
  cut(sentLength: number): void {
    this.#state = 'cut';
    const { isPartial: _, ...known } = this.#tally.usage ?? noUsage;
    const inputTokens = known.inputTokens || estimateTokens(sentLength);
    const outputTokens = Math.max(known.outputTokens, estimateTokens(this.#length));
    this.#usage = { ...known, inputTokens, outputTokens, isEstimated: true };
  }
}

// Prose and code average about four characters per token.
function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}
