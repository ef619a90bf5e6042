import { setTimeout as wait } from 'node:timers/promises';
import { type HeaderFields, toList } from '../http/respond.ts';
import type { HttpResponse } from '../http/response.ts';

/** Server-sent events, ready to be written. Deltas carry output, and only they are paced. */
export interface Frame {
  readonly kind: 'delta' | 'other';
  readonly text: string;
}

/** How fast and how far an answer is sent. */
type Pace = 'free' | 'slow' | 'cut';

/** What an endpoint answers. */
export type Reply =
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
  readonly headers: HeaderFields;
  /** Fires when the client has left or the server stops; sending ends immediately. */
  readonly signal: AbortSignal;
}

const slowMs = 100;
const deltasBeforeCut = 3;

/** Sends a whole reply. Rejects with an AbortError if the signal fires first. */
export async function sendReply(response: HttpResponse, reply: Reply, sending: Sending): Promise<void> {
  if (reply.kind === 'stream') return sendStream(response, reply, sending);
  const isCut = reply.kind === 'plain' && reply.pace === 'cut';
  if (reply.kind === 'plain' && reply.pace === 'slow') {
    // Waits as long as its stream would take.
    await wait(slowMs * Math.max(0, reply.deltas - 1), undefined, { signal: sending.signal });
  }
  const body = Buffer.from(JSON.stringify(reply.value));
  writeJsonHead(response, 200, body, sending.headers);
  if (isCut) return response.breakOff(body.subarray(0, body.length / 2));
  response.end(body);
}

/** Sends an error, or anything else that is a JSON value with a status. */
export function sendValue(
  response: HttpResponse,
  status: number,
  value: unknown,
  headers: HeaderFields,
): void {
  const body = Buffer.from(JSON.stringify(value));
  writeJsonHead(response, status, body, headers);
  response.end(body);
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
  const streamHeaders = { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' };
  response.writeHead(200, toList({ ...headers, ...streamHeaders }));
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

/** After a few deltas, and always before whatever follows the deltas. */
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

function writeJsonHead(response: HttpResponse, status: number, body: Buffer, headers: HeaderFields): void {
  const own = { 'content-type': 'application/json', 'content-length': String(body.length) };
  response.writeHead(status, toList({ ...headers, ...own }));
}
