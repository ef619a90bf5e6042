import { SseParser } from '../../dialects/sse.ts';
import type { AnswerPart, StreamEvent } from '../contract/exchange-detail.ts';
import type { AnswerPiece } from '../ring/entry.ts';
import { assembleAnswer } from './answer-parts.ts';
import { shownBytes } from './to-body.ts';

const maxEvents = 2_000;
const longestData = 4_096;

interface ReadStream {
  readonly events: readonly StreamEvent[];
  /** Assembled from the bytes that are shown. */
  readonly parts: readonly AnswerPart[];
}

/** Splits a streamed answer into events, and assembles it. */
export function readStream(
  pieces: readonly AnswerPiece[],
  endpoint: string,
  scrub: (text: string) => string,
): ReadStream {
  const events: StreamEvent[] = [];
  const answer = assembleAnswer(endpoint, scrub);
  let atMs = 0;
  const parser = new SseParser((name, data) => {
    answer.event(name, data);
    if (events.length >= maxEvents) return;
    const at_ms = Math.round(atMs * 10) / 10;
    events.push({ ...(name === undefined ? {} : { name }), data: scrub(data).slice(0, longestData), at_ms });
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
