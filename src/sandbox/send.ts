import { setTimeout as wait } from 'node:timers/promises';
import type { HttpResponse } from '../http/response.ts';

/** Server-sent events, ready to be written. Deltas carry output, and only they are paced. */
export interface Frame {
  readonly kind: 'delta' | 'other';
  readonly text: string;
}

/** How fast and how far an answer is sent. */
type Pace = 'free' | 'slow' | 'cut';

/** What an endpoint answers. */
export type SandboxAnswer =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'plain'; readonly value: unknown; readonly pace: Pace; readonly deltas: number }
  | Streamed;

interface Streamed {
  readonly kind: 'stream';
  readonly frames: Iterable<Frame>;
  readonly pace: Pace;
  /** Of its events in an array. */
  readonly isArray?: boolean;
}

interface Sending {
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  /** Fires when the client has left or the server stops; sending ends immediately. */
  readonly signal: AbortSignal;
}

const slowMs = 100;
const deltasBeforeCut = 3;

/** Sends a whole reply. Rejects with an AbortError if the signal fires first. */
export async function sendReply(
  response: HttpResponse,
  reply: SandboxAnswer,
  sending: Sending,
): Promise<void> {
  if (reply.kind === 'stream') return sendStream(response, reply, sending);
  if (reply.kind === 'plain' && reply.pace === 'slow') {
    // Waits as long as its stream would take.
    await wait(slowMs * Math.max(0, reply.deltas - 1), undefined, { signal: sending.signal });
  }
  const isCut = reply.kind === 'plain' && reply.pace === 'cut';
  sendSandboxJson(response, { status: 200, value: reply.value, headers: sending.headers, isCut });
}

interface JsonAnswer {
  readonly status: number;
  readonly value: unknown;
  readonly headers: readonly string[];
  /** Whether it breaks off in the middle. */
  readonly isCut?: boolean;
}

export function sendSandboxJson(
  response: HttpResponse,
  { status, value, headers, isCut = false }: JsonAnswer,
): void {
  const body = Buffer.from(JSON.stringify(value));
  const own = ['content-type', 'application/json', 'content-length', String(body.length)];
  response.writeHead(status, [...headers, ...own]);
  if (isCut) response.breakOff(body.subarray(0, body.length / 2));
  else response.end(body);
}

/** A stream as one JSON array, for clients of Gemini's that don't ask for events. */
export function asArray(stream: Streamed): Streamed {
  return { ...stream, frames: elementsOf(stream.frames), isArray: true };
}

function* elementsOf(frames: Iterable<Frame>): Generator<Frame> {
  let before = '[';
  for (const { kind, text } of frames) {
    const elements = text.split('\n\n').filter((event) => event.startsWith(dataField));
    for (const element of elements) {
      yield { kind, text: before + element.slice(dataField.length) };
      before = ',\r\n';
    }
  }
  yield { kind: 'other', text: before === '[' ? '[]' : ']' };
}

const dataField = 'data: ';

/** Sends events one by one, no faster than the client reads them. */
export async function sendStream(
  response: HttpResponse,
  { frames, pace, isArray }: Omit<Streamed, 'kind'>,
  { headers, signal }: Sending,
): Promise<void> {
  const type = isArray === true ? 'application/json' : 'text/event-stream';
  const own = ['content-type', `${type}; charset=utf-8`, 'cache-control', 'no-cache'];
  response.writeHead(200, [...headers, ...own]);
  response.flushHead();
  let deltas = 0;
  for (const frame of frames) {
    if (pace === 'cut' && isPlaceToCut(frame, deltas))
      return response.breakOff(Buffer.from(frame.text.slice(0, 10)));
    if (frame.kind === 'delta') {
      if (pace === 'slow' && deltas > 0) await wait(slowMs, undefined, { signal });
      deltas += 1;
    }
    signal.throwIfAborted();
    if (!response.write(Buffer.from(frame.text))) await drained(response, signal);
  }
  response.end();
}

/** After a few deltas, and always before the next event of another kind. */
function isPlaceToCut(frame: Frame, deltas: number): boolean {
  return deltas >= deltasBeforeCut || (deltas > 0 && frame.kind !== 'delta');
}

/** Resolves when the client can receive more; rejects with an AbortError if the signal fires first. */
function drained(response: HttpResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    response.onDrain(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
  });
}
