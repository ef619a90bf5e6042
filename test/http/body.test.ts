import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import * as zlib from 'node:zlib';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { toGatewayError } from '../../src/errors.ts';
import { type BodyLimits, readBody } from '../../src/http/body.ts';
import { type HttpRequest, newRequestId } from '../../src/http/request.ts';
import { sendError } from '../../src/http/respond.ts';
import type { HttpResponse } from '../../src/http/response.ts';
import { listenForAll, serve } from './serving.ts';

const limits: BodyLimits = { bodyBytes: 1024 * 1024, bodyIdleMs: 10_000, bodyTotalMs: 20_000 };

/** Answers with the body that it read, or with the error that it met. */
async function echo(request: HttpRequest, response: HttpResponse): Promise<void> {
  try {
    const body = await readBody(request, response, limits);
    response.writeHead(200, ['content-length', String(body.length)]);
    response.end(body);
  } catch (error) {
    sendError(response, toGatewayError(error), newRequestId());
  }
}

const listener = await listenForAll((request, response) => void echo(request, response));

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** Sends a body in those pieces; with a length where it is one piece, in chunks where it is more. */
function send(pieces: readonly Buffer[], headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port: listener.port, method: 'POST', headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
      },
    );
    request.on('error', reject);
    if (pieces.length > 1) for (const piece of pieces) request.write(piece);
    request.end(pieces.length > 1 ? undefined : pieces[0]);
  });
}

const text = Buffer.from('{"model":"m","messages":["Grüße 😀"]}'.repeat(50));

function codeOf({ body }: Answer): unknown {
  return (JSON.parse(body.toString()) as { error: { reason: string } }).error.reason;
}

describe('a body', () => {
  test.each([
    ['in one piece of the limit', [1_048_576]],
    ['in chunks of all sizes', [1, 2, 3, 4_096, 1, 65_536, 100_000, 7]],
  ])('%s arrives as it was sent', async (_how, sizes) => {
    const pieces = sizes.map((size) => randomBytes(size));

    expect((await send(pieces)).body.equals(Buffer.concat(pieces))).toBe(true);
  });

  test('one byte over the limit is refused, announced or not', async () => {
    const body = randomBytes(1_048_577);

    for (const pieces of [[body], [body.subarray(0, 1_000_000), body.subarray(1_000_000)]]) {
      const answer = await send(pieces);

      expect([answer.status, codeOf(answer)]).toEqual([413, 'request.too_large']);
    }
  });

  test('that is here before it is asked for is held to the limit, too', async () => {
    const { open, next } = await serve();
    const pieces = 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
    open().send(pieces);
    const { request, response } = await next();
    while (!request.isComplete) await new Promise((resolve) => setImmediate(resolve));

    const read = async (bodyBytes: number) => readBody(request, response, { ...limits, bodyBytes });

    expect(String(await read(3))).toBe('abc');
    await expect(read(2)).rejects.toMatchObject({ code: 'request.too_large' });
  });
});

/** Only newer Node versions have zstd, and its types don't know it. */
const { zstdCompressSync } = zlib as typeof zlib & { zstdCompressSync?: typeof gzipSync };
const zstdHere = (zstdCompressSync === undefined ? {} : { zstd: zstdCompressSync }) as {
  zstd: typeof gzipSync;
};

describe('a compressed body', () => {
  const encoders = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, ...zstdHere };
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  const names = Object.keys(encoders) as (keyof typeof encoders)[];

  test.each([
    ...names.map((name) => [name, encoders[name]] as const),
    [' GZIP ', gzipSync],
    ['Gzip', gzipSync],
    ['identity', (body: Buffer) => body],
  ] as const)('that is said to be %j is decoded', async (name, encode) => {
    expect((await send([encode(text)], { 'content-encoding': name })).body).toEqual(text);
  });

  test('several gzip members are one body, as RFC 1952 has it', async () => {
    const members = Buffer.concat([gzipSync('{"a":'), gzipSync('1}')]);

    expect((await send([members], { 'content-encoding': 'gzip' })).body.toString()).toBe('{"a":1}');
  });

  test.each(names)(
    '%s is refused that is cut, has bytes behind its end, or is something else',
    async (name) => {
      const encoded = encoders[name](text);
      const tails = ['x', '\0', '{"model":"other"}'].map((tail) =>
        Buffer.concat([encoded, Buffer.from(tail)]),
      );

      for (const body of [encoded.subarray(0, -5), ...tails, text, Buffer.alloc(0), deflateRawSync(text)]) {
        const answer = await send([body], { 'content-encoding': name });

        expect([answer.status, codeOf(answer)]).toEqual([400, 'request.encoding']);
      }
    },
  );

  test.each(['gzip, gzip', 'gzip, identity', 'x-gzip', 'compress', 'aes128gcm', 'gzip;q=1', 'gzip br'])(
    '%s is refused',
    async (name) => {
      const answer = await send([gzipSync(gzipSync(text))], { 'content-encoding': name });

      expect([answer.status, codeOf(answer)]).toEqual([400, 'request.encoding']);
    },
  );

  test.each(names)('%s of just the limit passes, one byte more does not', async (name) => {
    const full = Buffer.alloc(1_048_576);

    expect((await send([encoders[name](full)], { 'content-encoding': name })).status).toBe(200);
    const answer = await send([encoders[name](Buffer.alloc(1_048_577))], { 'content-encoding': name });
    expect([answer.status, codeOf(answer)]).toEqual([413, 'request.too_large']);
  });

  test.each(names)('a %s bomb is refused without being unpacked', async (name) => {
    const nothing = Buffer.alloc(64 * 1024 * 1024);
    const bomb = name === 'br' ? brotliCompressSync(nothing, quick) : encoders[name](nothing, { level: 1 });
    expect(bomb.length).toBeLessThan(limits.bodyBytes);
    const before = process.memoryUsage();

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => send([bomb], { 'content-encoding': name })),
    );

    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 413));
    // One of them unpacked is more than this.
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(48 * 1024 * 1024);
  });
});
