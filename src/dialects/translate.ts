import { GatewayError } from '../errors.ts';
import { buildChatAnswer } from './chat/build-answer.ts';
import { buildChatRequest } from './chat/build-request.ts';
import { parseChatAnswer } from './chat/parse-answer.ts';
import { parseChatRequest } from './chat/parse-request.ts';
import { createChatReader } from './chat/read-stream.ts';
import { createChatWriter } from './chat/write-stream.ts';
import type { Answer, ConversationRequest, StreamReader, StreamSink, StreamWriter } from './conversation.ts';
import type { Usage } from './dialect.ts';
import { fatesOf, settleFields } from './field-mappings.ts';
import { buildMessagesAnswer } from './messages/build-answer.ts';
import { buildMessagesRequest } from './messages/build-request.ts';
import { parseMessagesAnswer } from './messages/parse-answer.ts';
import { parseMessagesRequest } from './messages/parse-request.ts';
import { createMessagesReader } from './messages/read-stream.ts';
import { createMessagesWriter } from './messages/write-stream.ts';
import { buildResponsesAnswer } from './responses/build-answer.ts';
import { buildResponsesRequest } from './responses/build-request.ts';
import { buildEcho } from './responses/echo.ts';
import { parseResponsesAnswer } from './responses/parse-answer.ts';
import { parseResponsesRequest } from './responses/parse-request.ts';
import { createResponsesReader } from './responses/read-stream.ts';
import { createResponsesWriter } from './responses/write-stream.ts';
import type { Dropped } from './translation/dropped.ts';
import { buildFailure, parseFailure } from './translation/errors.ts';
import type { TextDialect } from './translation/field-mapping.ts';
import { brokenAnswer, type Fields, isFields, parseFields, toFields } from './translation/fields.ts';
import type { TranslationContext } from './translation/quirks.ts';
import { restoreAnswer, restoreCalls } from './translation/restore-calls.ts';
import { createToolNames, type ToolNames } from './translation/tool-names.ts';

export type { TextDialect, TranslationContext };

/** One exchange between a client and a provider of different dialects. `request` comes first. */
export interface Translation {
  /**
   * The provider's request, and the names of what was left out. Throws `request.field` for a malformed field
   * and `request.unsupported` for one that can't be carried over, both with `param`.
   */
  request(body: unknown): { body: unknown; dropped: readonly string[] };
  /** A provider's whole answer; throws `provider.broken_response` where it is none. */
  answer(body: unknown): { body: unknown; usage: Usage | undefined };
  /** A provider's error body of any shape (parsed, or text) in the client's dialect. */
  error(status: number, body: unknown): unknown;
  stream(): StreamTranslation;
}

/** The translation of one stream. It gives out text only when it says something to the client. */
export interface StreamTranslation {
  /** One event of the provider; throws `provider.broken_response` where it makes no sense. */
  event(name: string | undefined, data: string): string;
  /** The provider's body ended. Throws `provider.broken_response` when the answer was cut. */
  end(): string;
  /** The event for a failure after the first byte, after whatever was not given out yet. Never a finish. */
  fail(error: GatewayError, requestId: string): string;
  /** Complete or failed: the client has its last event, and nothing more will come. */
  readonly state: 'open' | 'complete' | 'failed';
  readonly usage: Usage | undefined;
}

interface Dialect {
  parseRequest(body: Fields, dropped: Dropped): ConversationRequest;
  buildRequest(
    request: ConversationRequest,
    context: TranslationContext,
    names: ToolNames,
    dropped: Dropped,
  ): Fields;
  parseAnswer(body: Fields): Answer;
  buildAnswer(answer: Answer, context: TranslationContext, request: Fields): Fields;
  createReader(sink: StreamSink): StreamReader;
  createWriter(context: TranslationContext, request: Fields): StreamWriter;
}

const dialects = {
  messages: {
    parseRequest: parseMessagesRequest,
    buildRequest: buildMessagesRequest,
    parseAnswer: parseMessagesAnswer,
    buildAnswer: buildMessagesAnswer,
    createReader: createMessagesReader,
    createWriter: createMessagesWriter,
  },
  chat: {
    parseRequest: parseChatRequest,
    buildRequest: buildChatRequest,
    parseAnswer: parseChatAnswer,
    buildAnswer: buildChatAnswer,
    createReader: createChatReader,
    createWriter: (context, request) =>
      createChatWriter(context, {
        includesUsage: toFields(request.stream_options).include_usage === true,
      }),
  },
  responses: {
    parseRequest: parseResponsesRequest,
    buildRequest: buildResponsesRequest,
    parseAnswer: parseResponsesAnswer,
    buildAnswer: (answer, context, request) => buildResponsesAnswer(answer, context, buildEcho(request)),
    createReader: createResponsesReader,
    createWriter: (context, request) => createResponsesWriter(context, buildEcho(request)),
  },
} satisfies Record<TextDialect, Dialect>;

/** A translation for one exchange: what the request asked for decides how its answer is written. */
export function createTranslation(
  client: TextDialect,
  provider: TextDialect,
  context: TranslationContext,
): Translation {
  const rows = fatesOf(client, provider);
  if (rows === undefined) throw new GatewayError('gateway.internal', `nothing to translate in ${client}`);
  const clientDialect: Dialect = dialects[client];
  const providerDialect: Dialect = dialects[provider];
  const names = createToolNames();
  let asked: Fields = {};

  return {
    request(body) {
      asked = parseFields(body, 'body');
      const dropped: Dropped = new Set();
      const kept = settleFields(asked, rows, context, dropped);
      const neutral = clientDialect.parseRequest(kept, dropped);
      // Before the history, which may call a tool something else than it is offered as now.
      for (const tool of neutral.tools) names.toWire(tool);
      return { body: providerDialect.buildRequest(neutral, context, names, dropped), dropped: [...dropped] };
    },
    answer(body) {
      if (!isFields(body)) throw brokenAnswer('is not a JSON object');
      const answer = restoreAnswer(providerDialect.parseAnswer(body), names);
      return { body: clientDialect.buildAnswer(answer, context, asked), usage: answer.usage };
    },
    error: (status, body) => buildFailure(client, parseFailure(body, status)),
    stream() {
      const writer = clientDialect.createWriter(context, asked);
      return new TranslatedEvents(writer, (sink) => providerDialect.createReader(restoreCalls(sink, names)));
    },
  };
}

/** A stream as a class: objects that bring their own getters cost a hidden class each. */
class TranslatedEvents implements StreamTranslation {
  #state: StreamTranslation['state'] = 'open';
  #usage: Usage | undefined;
  readonly #writer: StreamWriter;
  readonly #reader: StreamReader;

  constructor(writer: StreamWriter, createReader: (sink: StreamSink) => StreamReader) {
    this.#writer = writer;
    this.#reader = createReader({
      ...writer,
      usage: (latest) => {
        this.#usage = latest;
        writer.usage(latest);
      },
      complete: (finish, stopSequence) => {
        writer.complete(finish, stopSequence);
        this.#state = 'complete';
      },
      fail: (failure) => {
        writer.fail(failure);
        this.#state = 'failed';
      },
    });
  }

  get state(): StreamTranslation['state'] {
    return this.#state;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  event(name: string | undefined, data: string): string {
    if (this.#state !== 'open') return '';
    this.#reader.event(name, data);
    return this.#writer.take();
  }

  end(): string {
    if (this.#state === 'open') this.#reader.end();
    return this.#writer.take();
  }

  fail(error: GatewayError, requestId: string): string {
    if (this.#state === 'open') {
      this.#state = 'failed';
      const { reason, message, param } = error;
      this.#writer.fail({ type: error.failure.type, message, code: reason, param, requestId });
    }
    return this.#writer.take();
  }
}
