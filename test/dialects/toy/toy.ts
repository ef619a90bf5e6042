import type { TextDialect } from '../../../src/dialects/dialect.ts';
import { parseFailure } from '../../../src/dialects/failure.ts';
import { fieldTable } from '../../../src/dialects/field-table.ts';
import {
  brokenAnswer,
  parseEventData,
  parseText,
  toCount,
  toFields,
  toText,
} from '../../../src/dialects/fields.ts';
import { membersNamed, noUsage, type Usage } from '../../../src/dialects/usage.ts';

const usageOf = (value: unknown): Usage | undefined => {
  const { tokens } = toFields(value);
  return tokens === undefined ? undefined : { ...noUsage, outputTokens: toCount(tokens) };
};

/** A wire format of one prompt and one text: all that there is to write for a new dialect. */
export const toy: TextDialect = {
  name: 'toy',
  methods: [{ path: '/v1/toy', stream: 'asked' }],
  operation: 'chat',
  recognizes: (body) => 'said' in body,
  limitHeaders: () => [],
  caps: ['limit'],
  required: ['prompt'],
  places: new Map([['prompt', 'user']]),
  turnRole: () => 'user',
  blocks: new Map(),

  answerUsage: usageOf,
  eventUsage: (event, known) => usageOf(event) ?? known,
  writtenMembers: membersNamed('said'),
  isLastEvent: (head) => head.startsWith('data: {"end"'),
  finishes: () => new Map(),
  isErrorBody: () => true,
  errorBody: ({ message }) => ({ problem: message }),
  errorEvent: ({ message }) => ({ data: JSON.stringify({ problem: message }) }),

  codec: {
    parseRequest: (body) => ({
      system: [],
      turns: [{ role: 'user', parts: [{ kind: 'text', text: parseText(body.prompt, 'prompt') }] }],
      tools: [],
      stop: [],
      isStreaming: body.stream === true,
    }),
    buildRequest: ({ turns, isStreaming }, { targetModel }) => ({
      model: targetModel,
      prompt: turns
        .flatMap((turn) => (turn.role === 'user' ? turn.parts : []))
        .flatMap((part) => (part.kind === 'text' ? [part.text] : []))
        .join('\n'),
      ...(isStreaming ? { stream: true } : {}),
    }),
    cannotTake: () => undefined,
    stopSequences: () => [],
    parseAnswer: (body) => ({
      parts: [{ kind: 'text', text: toText(body.said) }],
      finish: 'stop',
      usage: usageOf(body),
    }),
    buildAnswer: ({ parts, usage }) => ({
      said: parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join(''),
      tokens: usage?.outputTokens ?? 0,
    }),
    createReader: (sink) => ({
      event(_name, data) {
        const event = parseEventData(data);
        if (event.problem !== undefined) return sink.fail(parseFailure(event));
        if (event.end === true) {
          sink.usage(usageOf(event) ?? noUsage);
          return sink.complete('stop');
        }
        sink.text(toText(event.said));
      },
      end() {
        throw brokenAnswer('ended before its last event');
      },
    }),
    createWriter: (_context, _echo, write) => {
      const ignore = () => {};
      return {
        start: ignore,
        thinking: ignore,
        seal: ignore,
        refusal: ignore,
        callStart: ignore,
        callInput: ignore,
        callEnd: ignore,
        ping: ignore,
        text: (text) => write(undefined, JSON.stringify({ said: text })),
        complete: (_finish, { outputTokens: tokens }) =>
          write(undefined, JSON.stringify({ end: true, tokens })),
        fail: ({ message }) => write(undefined, JSON.stringify({ problem: message })),
      };
    },
  },
  fieldsTo: { chat: fieldTable({ kept: 'model prompt stream' }) },
  fieldsFrom: { messages: fieldTable({ kept: 'model messages stream', dropped: 'max_tokens' }) },
};
