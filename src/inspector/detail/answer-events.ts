import { createSseParser } from '../../dialects/sse.ts';
import type { StreamEvent } from '../contract/exchange-detail.ts';
import type { AnswerPiece } from '../ring/entry.ts';
import { shownBytes } from './to-body.ts';

const maxEvents = 2_000;
const longestData = 4_096;

interface ReadStream {
  readonly events: readonly StreamEvent[];
  /** The concatenated texts of the events, up to the length that is shown. */
  readonly text: string;
}

/** Splits a streamed answer into events; none if it is not an event stream. */
export function readStream(
  pieces: readonly AnswerPiece[],
  deltaText: (event: unknown) => string,
  scrub: (text: string) => string,
): ReadStream {
  const events: StreamEvent[] = [];
  let text = '';
  let atMs = 0;
  const parser = createSseParser((name, data) => {
    text += deltaText(parsed(data));
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
  return { events, text: scrub(text) };
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined; // [DONE], or nothing that has a text
  }
}
