import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Frame, Pace, Reply } from './reply.ts';

interface Sending {
  readonly headers: OutgoingHttpHeaders;
  /** Fires when the client has left or the server stops; what is being sent ends at once. */
  readonly signal: AbortSignal;
}

const slowMs = 100;
const deltasBeforeCut = 3;

/** Sends a reply to its end. Rejects with an AbortError when the signal fires first. */
export async function sendReply(response: ServerResponse, reply: Reply, sending: Sending): Promise<void> {
  if (reply.kind === 'stream') return sendStream(response, reply.frames, { ...sending, pace: reply.pace });
  const isCut = reply.kind === 'plain' && reply.pace === 'cut';
  if (reply.kind === 'plain' && reply.pace === 'slow') {
    // As long as its stream would take.
    await wait(slowMs * Math.max(0, reply.deltas - 1), undefined, { signal: sending.signal });
  }
  const body = Buffer.from(JSON.stringify(reply.value));
  writeJsonHead(response, 200, body, sending.headers);
  if (isCut) return cut(response, body.subarray(0, body.length / 2));
  response.end(body);
}

/** Sends an error, or anything else that is a JSON value with a status. */
export function sendValue(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: OutgoingHttpHeaders,
): void {
  const body = Buffer.from(JSON.stringify(value));
  writeJsonHead(response, status, body, headers);
  response.end(body);
}

/** Sends events one by one, no faster than the client reads them. */
export async function sendStream(
  response: ServerResponse,
  frames: Iterable<Frame>,
  { headers, signal, pace }: Sending & { readonly pace: Pace },
): Promise<void> {
  const streamHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  response.writeHead(200, { ...headers, ...streamHeaders });
  response.flushHeaders();
  let deltas = 0;
  for (const frame of frames) {
    if (pace === 'cut' && isPlaceToCut(frame, deltas)) return cut(response, frame.text.slice(0, 10));
    if (frame.kind === 'delta') {
      if (pace === 'slow' && deltas > 0) await wait(slowMs, undefined, { signal });
      deltas += 1;
    }
    signal.throwIfAborted();
    if (!response.write(frame.text)) await once(response, 'drain', { signal });
  }
  response.end();
}

/** After a few deltas, and in any case before what comes after the deltas. */
function isPlaceToCut(frame: Frame, deltas: number): boolean {
  return deltas >= deltasBeforeCut || (deltas > 0 && frame.kind !== 'delta');
}

/** Destroys the socket, but only once the last piece is out: what was written must arrive. */
async function cut(response: ServerResponse, lastPiece: Buffer | string): Promise<void> {
  await new Promise((resolve) => response.write(lastPiece, resolve));
  response.destroy();
}

function writeJsonHead(
  response: ServerResponse,
  status: number,
  body: Buffer,
  headers: OutgoingHttpHeaders,
): void {
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': body.length,
  });
}
