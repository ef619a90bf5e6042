import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { GatewayError } from '../errors.ts';

export interface BodyLimits {
  /** Most bytes of a body, as received and again after decompression. */
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
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits,
): Promise<Buffer> {
  const encoding = contentEncoding(request);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limits.bodyBytes) throw tooLarge(limits);
  // Only now, after the checks that need no body: a refused client never sends it.
  if (request.headers.expect !== undefined && request.httpVersion !== '1.0') response.writeContinue();
  const body = await receive(request, response, { announced, limits });
  return encoding === undefined ? body : decode(body, encoding, limits);
}

function contentEncoding(request: IncomingMessage): keyof typeof decoders | undefined {
  const value = request.headers['content-encoding']?.trim().toLowerCase();
  if (value === undefined || value === '' || value === 'identity') return undefined;
  if (value === 'gzip' || value === 'br' || value === 'deflate') return value;
  throw new GatewayError('request.encoding', 'content-encoding must be gzip, br or deflate, once, or absent');
}

function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { announced, limits }: { readonly announced: number; readonly limits: BodyLimits },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body: Buffer | undefined;
    let length = 0;
    let idle: NodeJS.Timeout | undefined;
    let total: NodeJS.Timeout | undefined;
    let isSettled = false;

    const settle = (error?: GatewayError) => {
      isSettled = true;
      clearTimeout(idle);
      clearTimeout(total);
      request.removeListener('data', onData).removeListener('end', onEnd).removeListener('close', onClose);
      response.removeListener('close', onClose);
      if (error !== undefined) return reject(error);
      resolve(body === undefined ? Buffer.alloc(0) : body.subarray(0, length));
    };
    const late = () => settle(new GatewayError('request.timeout', 'the request body did not arrive in time'));
    const onEnd = () => settle();
    const onClose = () =>
      settle(
        // The parser answers a malformed body itself.
        response.headersSent
          ? new GatewayError('request.framing', "the body's framing is malformed")
          : new GatewayError('client.left', 'the client left before its body was complete'),
      );
    const onData = (chunk: Buffer) => {
      if (length + chunk.length > limits.bodyBytes) return settle(tooLarge(limits));
      body = append(body, length, chunk, announced);
      length += chunk.length;
      idle?.refresh();
    };

    // Timers are set only for bodies that are not here at once: most are, and timers cost more than they do.
    setImmediate(() => {
      if (isSettled || idle !== undefined) return;
      idle = setTimeout(late, limits.bodyIdleMs);
      total = setTimeout(late, limits.bodyTotalMs);
    });
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    response.on('close', onClose);
  });
}

/** One allocation of the announced length, or doubling where none was announced. */
function append(body: Buffer | undefined, length: number, chunk: Buffer, announced: number): Buffer {
  if (body === undefined && chunk.length >= announced) return chunk;
  const needed = length + chunk.length;
  let target = body;
  if (target === undefined || target.length < needed) {
    target = Buffer.allocUnsafeSlow(Math.max(announced, needed, (body?.length ?? 0) * 2));
    if (body !== undefined) body.copy(target, 0, 0, length);
  }
  chunk.copy(target, length);
  return target;
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
  // zlib passes over what stands behind the end, and another reader might not.
  if (decoded.engine.bytesWritten === body.length) return decoded.buffer;
  throw new GatewayError('request.encoding', `the body goes on behind the end of its ${encoding} data`);
}

interface Decoded {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

function tooLarge(limits: BodyLimits): GatewayError {
  return new GatewayError('request.too_large', `the request body is larger than ${limits.bodyBytes} bytes`);
}
