import type { StreamReader, StreamSink } from '../../dialects/conversation.ts';
import { isText } from '../../dialects/dialect.ts';
import { dialects } from '../../dialects/registry.ts';
import type { AnswerPart } from '../contract/exchange-detail.ts';

/** Pieces can be tiny, and each part is an element of the page. */
const maxParts = 200;

type Draft = { -readonly [Field in keyof AnswerPart]: AnswerPart[Field] };

export interface AnswerAssembler {
  event(name: string | undefined, data: string): void;
  parts(): readonly AnswerPart[];
}

/** Assembles a streamed answer in the client's dialect: texts, thinking and tool calls, in the order they came. */
export function assembleAnswer(endpoint: string, scrub: (text: string) => string): AnswerAssembler {
  const drafts: Draft[] = [];
  const calls = new Map<number, Draft>();
  const add = (draft: Draft) => {
    if (drafts.length < maxParts) drafts.push(draft);
    else if (drafts.length === maxParts) drafts.push({ kind: 'more', text: '' });
  };
  const append = (kind: AnswerPart['kind'], text: string) => {
    const last = drafts.at(-1);
    if (last?.kind === kind) last.text += text;
    else add({ kind, text });
  };
  const reader = readerOf(endpoint, {
    text: (text) => append('text', text),
    thinking: (text) => append('thinking', text),
    refusal: (text) => append('refusal', text),
    fail: ({ message }) => append('error', message),
    callStart: ({ index, name }) => {
      const call: Draft = { kind: 'call', name, text: '' };
      calls.set(index, call);
      add(call);
    },
    callInput: (index, piece) => {
      const call = calls.get(index);
      if (call !== undefined) call.text += piece;
    },
    start() {},
    callEnd() {},
    ping() {},
    usage() {},
    complete() {},
  });
  return {
    event(name, data) {
      try {
        reader?.event(name, data);
      } catch {
        // Not an event of the dialect: it is shown among the events.
      }
    },
    parts: () =>
      drafts.map(({ kind, name, text }) => ({
        kind,
        text: scrub(text),
        ...(name === undefined ? {} : { name: scrub(name) }),
      })),
  };
}

function readerOf(endpoint: string, sink: StreamSink): StreamReader | undefined {
  const dialect = Object.entries(dialects).find(([name]) => name === endpoint)?.[1];
  return dialect !== undefined && isText(dialect) ? dialect.codec.createReader(sink) : undefined;
}
