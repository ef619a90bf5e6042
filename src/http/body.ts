import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { GatewayError } from '../errors.ts';
import { GrowingBuffer } from '../lib/growing-buffer.ts';
import type { HttpRequest } from './request.ts';
import type { HttpResponse } from './response.ts';

/**
 * Counts the bytes of request bodies that are in memory or announced, per key. A key may hold at most as much as is
 * still free, so one key alone gets half of the capacity, two get a third each, and a newcomer always finds room
 * ("dynamic threshold", Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998).
 */
export class BodyMemory {
  readonly #byKey = new Map<string, number>();
  #total = 0;

  /** An account for one request of a key. */
  open(keyId: string, capacity: BodyCapacity): HeldBytes {
    return new HeldByRequest(this, keyId, capacity);
  }

  /** Counts bytes of a key, unless its share is used up. */
  add(keyId: string, bytes: number, capacity: BodyCapacity): void {
    const ofKey = this.#byKey.get(keyId) ?? 0;
    if (ofKey + bytes > capacity.bytes - this.#total) throw noRoom(capacity);
    this.#byKey.set(keyId, ofKey + bytes);
    this.#total += bytes;
  }

  subtract(keyId: string, bytes: number): void {
    const left = (this.#byKey.get(keyId) ?? 0) - bytes;
    if (left > 0) this.#byKey.set(keyId, left);
    else this.#byKey.delete(keyId);
    this.#total -= bytes;
  }
}

class HeldByRequest implements HeldBytes {
  readonly #memory: BodyMemory;
  readonly #keyId: string;
  readonly #capacity: BodyCapacity;
  #held = 0;

  constructor(memory: BodyMemory, keyId: string, capacity: BodyCapacity) {
    this.#memory = memory;
    this.#keyId = keyId;
    this.#capacity = capacity;
  }

  add(bytes: number): void {
    this.#memory.add(this.#keyId, bytes, this.#capacity);
    this.#held += bytes;
  }

  release(): void {
    this.#memory.subtract(this.#keyId, this.#held);
    this.#held = 0;
  }
}

/** How much all keys together may hold. */
export interface BodyCapacity {
  readonly bytes: number;
  /** What sets it, for a person. */
  readonly setBy: string;
}

/** The bytes that one request holds. */
export interface HeldBytes {
  /** Throws gateway.overloaded, and adds nothing, if the key's share is used up. */
  add(bytes: number): void;
  /** Gives all of them back. */
  release(): void;
}

function noRoom({ setBy }: BodyCapacity): GatewayError {
  const message = `the open requests of this key hold all the memory that is free for request bodies; try again when some are over (${setBy})`;
  return new GatewayError('gateway.overloaded', message, { retryAfterS: 1 });
}

export interface BodyLimits {
  /** Maximum bytes of a body, both as received and after decompression. */
  readonly bodyBytes: number;
  /** What sets that, for a person. */
  readonly setBy?: string | undefined;
  /** Longest gap between two pieces, in milliseconds. */
  readonly bodyIdleMs: number;
  /** Longest time for the whole body, in milliseconds. */
  readonly bodyTotalMs: number;
}

type Decoder = Transform & { readonly bytesWritten: number };

// @types/node describes Node 20, which has no zstd.
const { createZstdDecompress, constants } = zlib as typeof zlib & {
  createZstdDecompress?: (options: object) => Decoder;
  constants: { readonly ZSTD_d_windowLogMax?: number };
};
/** What a zstd frame may make its reader remember, as a power of two: the least that every reader supports (RFC 8878). */
const zstdWindowLog = 23;

const decoders: Readonly<Record<string, (() => Decoder) | undefined>> = {
  gzip: zlib.createGunzip,
  br: zlib.createBrotliDecompress,
  deflate: zlib.createInflate,
  zstd:
    createZstdDecompress &&
    (() => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax ?? 0]: zstdWindowLog } })),
};

/**
 * Reads the whole body into one Buffer, decompressed. A body that arrives in one piece is not copied. Its bytes are
 * added to `held` before they are read: the announced length at once, everything else as it comes.
 * Throws request.too_large, request.timeout, request.encoding, request.media_type, request.framing (it was
 * malformed), client.left, and what `held` throws.
 */
export function readBody(
  request: HttpRequest,
  response: HttpResponse,
  limits: BodyLimits,
  held?: Pick<HeldBytes, 'add'>,
): Buffer | Promise<Buffer> {
  const encoding = contentEncoding(request);
  if (request.bodyLength !== undefined) {
    if (request.bodyLength > limits.bodyBytes) throw tooLarge(limits);
    held?.add(request.bodyLength);
  }
  const here = request.whole();
  if (here !== undefined && here.length > limits.bodyBytes) throw tooLarge(limits);
  if (here !== undefined && encoding === undefined) return here;
  // Only now, after all checks that need no body, so that a refused client never sends it.
  if (request.expectsContinue && !request.isComplete) response.writeContinue();
  const body = receive(request, limits, held);
  return encoding === undefined ? body : body.then((bytes) => decode(bytes, encoding, limits, held));
}

/** Throws request.encoding, and request.media_type for zstd where Node can't read it: it is never passed on unread. */
function contentEncoding(request: HttpRequest): string | undefined {
  const value = request.header('content-encoding')?.toLowerCase();
  if (value === undefined || value === '' || value === 'identity') return undefined;
  if (Object.hasOwn(decoders, value) && decoders[value] !== undefined) return value;
  if (value === 'zstd') {
    const message =
      'zstd takes Node.js 22.15 or later for the gateway; until then switch it off in the client (codex --disable enable_request_compression)';
    throw new GatewayError('request.media_type', message);
  }
  throw new GatewayError(
    'request.encoding',
    'content-encoding must be gzip, br, deflate or zstd, once, or absent',
  );
}

function receive(
  request: HttpRequest,
  limits: BodyLimits,
  held: Pick<HeldBytes, 'add'> | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const announced = request.bodyLength;
    const body = new GrowingBuffer();
    let isSettled = false;
    const settle = (error?: unknown) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(idle);
      clearTimeout(total);
      if (error !== undefined) return reject(error);
      resolve(body.bytes());
    };
    const late = () => settle(new GatewayError('request.timeout', 'the request body did not arrive in time'));
    const idle = setTimeout(late, limits.bodyIdleMs);
    const total = setTimeout(late, limits.bodyTotalMs);
    request.read({
      take: (piece) => {
        if (isSettled) return;
        if (body.length + piece.length > limits.bodyBytes) return settle(tooLarge(limits));
        try {
          if (announced === undefined) held?.add(piece.length);
        } catch (error) {
          return settle(error);
        }
        body.append(piece, announced);
        idle.refresh();
      },
      end: () => settle(),
      fail: settle,
    });
  });
}

async function decode(
  body: Buffer,
  encoding: string,
  limits: BodyLimits,
  held: Pick<HeldBytes, 'add'> | undefined,
): Promise<Buffer> {
  const decoder = (decoders[encoding] as () => Decoder)(); // contentEncoding has looked
  const decoded = new GrowingBuffer();
  decoder.end(body);
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      if (decoded.length + piece.length > limits.bodyBytes) throw tooLarge(limits);
      // The compressed bytes are already counted, and are given up when the others are complete.
      const uncounted = decoded.length + piece.length - Math.max(body.length, decoded.length);
      if (uncounted > 0) held?.add(uncounted);
      decoded.append(piece);
    }
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('request.encoding', `the body is not valid ${encoding}`, { cause });
  }
  // zlib ignores trailing data, but another reader might not.
  if (decoder.bytesWritten === body.length) return decoded.bytes();
  throw new GatewayError('request.encoding', `the body continues after the end of its ${encoding} data`);
}

/** A JSON document in a body. Throws request.media_type, request.invalid_json and what `readBody` throws. */
export async function readJsonBody(
  request: HttpRequest,
  response: HttpResponse,
  limits: BodyLimits,
): Promise<unknown> {
  // Other sites can send forms and plain text without a CORS preflight, but not JSON.
  if (!/^application\/json\s*(?:;|$)/i.test(request.header('content-type') ?? '')) {
    throw new GatewayError('request.media_type', 'the content-type must be application/json');
  }
  const body = await readBody(request, response, limits);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new GatewayError('request.invalid_json', 'the body is not valid JSON in UTF-8', { cause });
  }
}

function tooLarge({ bodyBytes, setBy }: BodyLimits): GatewayError {
  const why = setBy === undefined ? '' : ` (${setBy})`;
  const message = `the request body is larger than ${bodyBytes} bytes${why}`;
  return new GatewayError('request.too_large', message);
}
