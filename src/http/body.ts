import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { GatewayError } from '../errors.ts';
import { GrowingBuffer } from '../growing-buffer.ts';
import type { HttpRequest } from './request.ts';
import type { HttpResponse } from './response.ts';

export interface BodyLimits {
  /** Most bytes of a body, both as received and after decompression. */
  readonly bodyBytes: number;
  /** Longest gap between two pieces, in milliseconds. */
  readonly bodyIdleMs: number;
  /** Longest time for the whole body, in milliseconds. */
  readonly bodyTotalMs: number;
}

const decoders = { gzip: promisify(gunzip), br: promisify(brotliDecompress), deflate: promisify(inflate) };

/**
 * Reads the whole body into one Buffer, decompressed. A body that arrives in one piece is not copied.
 * Throws request.too_large, request.timeout, request.encoding, request.framing (it was malformed), client.left.
 */
export function readBody(
  request: HttpRequest,
  response: HttpResponse,
  limits: BodyLimits,
): Buffer | Promise<Buffer> {
  const encoding = contentEncoding(request);
  if (request.bodyLength !== undefined && request.bodyLength > limits.bodyBytes) throw tooLarge(limits);
  const here = request.whole();
  if (here !== undefined && here.length > limits.bodyBytes) throw tooLarge(limits);
  if (here !== undefined && encoding === undefined) return here;
  // Only now, after all checks that need no body, so that a refused client never sends it.
  if (request.expectsContinue && !request.isComplete) response.writeContinue();
  const body = receive(request, limits);
  return encoding === undefined ? body : body.then((bytes) => decode(bytes, encoding, limits));
}

function contentEncoding(request: HttpRequest): keyof typeof decoders | undefined {
  const value = request.header('content-encoding')?.toLowerCase();
  if (value === undefined || value === '' || value === 'identity') return undefined;
  if (value === 'gzip' || value === 'br' || value === 'deflate') return value;
  throw new GatewayError('request.encoding', 'content-encoding must be gzip, br or deflate, once, or absent');
}

function receive(request: HttpRequest, limits: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const announced = request.bodyLength ?? 0;
    const body = new GrowingBuffer();
    let isSettled = false;
    const settle = (error?: GatewayError) => {
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
        body.append(piece, announced);
        idle.refresh();
      },
      end: () => settle(),
      fail: settle,
    });
  });
}

async function decode(body: Buffer, encoding: keyof typeof decoders, limits: BodyLimits): Promise<Buffer> {
  let decoded: Decoded;
  try {
    const options = { maxOutputLength: limits.bodyBytes, info: true };
    decoded = (await decoders[encoding](body, options)) as unknown as Decoded; // node's types don't know `info`
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limits);
    throw new GatewayError('request.encoding', `the body is not valid ${encoding}`, { cause });
  }
  // zlib ignores trailing data, but another reader might not.
  if (decoded.engine.bytesWritten === body.length) return decoded.buffer;
  throw new GatewayError('request.encoding', `the body continues after the end of its ${encoding} data`);
}

interface Decoded {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

function tooLarge(limits: BodyLimits): GatewayError {
  return new GatewayError('request.too_large', `the request body is larger than ${limits.bodyBytes} bytes`);
}
