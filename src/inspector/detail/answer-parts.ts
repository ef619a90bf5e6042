import type { StreamReader, StreamSink } from '../../dialects/conversation.ts';
import { isText } from '../../dialects/dialect.ts';
import { dialects } from '../../dialects/registry.ts';
import { SseParser } from '../../dialects/sse.ts';
import type { Body, Mark, ShownEvent, ShownPart } from '../contract/exchange-detail.ts';
import type { AnswerPiece } from '../ring/ring.ts';
import { rounded } from '../ring/to-row.ts';

/** How much of a body is shown, and searched for marks. */
export const shownBytes = 1024 * 1024;

export type Scrub = (text: string) => string;

/** A body for display: as text, with configured secrets scrubbed and places marked. */
export function toBody(bytes: Buffer, scrub: Scrub, findMarks: (text: string) => readonly Mark[]): Body {
  const text = shownText(bytes, scrub);
  return { bytes: bytes.length, text, truncated: bytes.length > shownBytes, marks: findMarks(text) };
}

/** The part of a body that is shown. */
export function shownText(bytes: Buffer, scrub: Scrub): string {
  return scrub(bytes.subarray(0, shownBytes).toString());
}

const maxEvents = 2_000;
const maxDataLength = 4_096;

/** Splits a streamed answer into events, and assembles it, from the bytes that are shown. */
export function readStream(pieces: readonly AnswerPiece[], endpoint: string, scrub: Scrub) {
  const events: ShownEvent[] = [];
  const answer = assembleAnswer(endpoint, scrub);
  let atMs = 0;
  const parser = new SseParser((name, data) => {
    answer.event(name, data);
    if (events.length >= maxEvents) return;
    events.push({ name, data: scrub(data).slice(0, maxDataLength), at_ms: rounded(atMs) });
  });
  try {
    let bytes = 0;
    for (const piece of pieces) {
      bytes += piece.bytes.length;
      if (bytes > shownBytes) break;
      atMs = piece.atMs;
      parser.push(piece.bytes);
    }
    parser.end();
  } catch {
    // An event of more than 1 MiB: the events before it are shown, and the whole answer as raw text.
  }
  return { events, parts: answer.parts() };
}

/** Pieces can be tiny, and each part is an element of the page. */
const maxParts = 200;

type Draft = { -readonly [Field in keyof ShownPart]: ShownPart[Field] };

/** Assembles a streamed answer in the client's dialect: texts, thinking and tool calls, in the order they came. */
export function assembleAnswer(endpoint: string, scrub: Scrub) {
  const drafts: Draft[] = [];
  const calls = new Map<number, Draft>();
  const add = (draft: Draft) => {
    if (drafts.length < maxParts) drafts.push(draft);
    else if (drafts.length === maxParts) drafts.push({ kind: 'more', text: '' });
  };
  const append = (kind: ShownPart['kind'], text: string) => {
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
    seal() {},
    start() {},
    callEnd() {},
    ping() {},
    usage() {},
    complete() {},
  });
  return {
    event(name: string | undefined, data: string): void {
      try {
        reader?.event(name, data);
      } catch {
        // Not an event of the dialect: it is shown among the events.
      }
    },
    parts: (): readonly ShownPart[] =>
      drafts.map(({ kind, name, text }) => ({ kind, name: name && scrub(name), text: scrub(text) })),
  };
}

function readerOf(endpoint: string, sink: StreamSink): StreamReader | undefined {
  const dialect = Object.entries(dialects).find(([name]) => name === endpoint)?.[1];
  return dialect !== undefined && isText(dialect) ? dialect.codec.createReader(sink) : undefined;
}
