import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { Lifetime } from '../../src/lib/lifetime.ts';
import { AnswerHeaders } from '../../src/providers/headers.ts';
import { decodedAnswer, readWhole } from '../../src/providers/read-whole.ts';
import type { BodySink, ProviderAnswer } from '../../src/providers/transport/pool.ts';

/** An answer whose body is written by the test, as the connection would. */
class WrittenAnswer implements ProviderAnswer {
  readonly status = 200;
  readonly headers: AnswerHeaders;
  readonly whole = (): Buffer | undefined => undefined;
  isBehind = false;
  wasAborted = false;
  sink: BodySink | undefined;

  constructor(encoding?: string) {
    this.headers = new AnswerHeaders(encoding === undefined ? {} : { 'content-encoding': encoding });
  }

  pipe(sink: BodySink): void {
    this.sink = sink;
  }

  #wake: () => void = () => undefined;

  resume(): void {
    this.#wake();
  }

  /** Resolves at the next resume. */
  paused(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  flush(): void {}

  abort(): void {
    this.wasAborted = true;
  }
}

const text = Buffer.from(JSON.stringify({ text: 'Grüße 😀'.repeat(1_000) }));
const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;
const names = ['gzip', 'deflate', 'br'] as const;

async function read(encoding: string, pieces: readonly Buffer[], limit = 1_000_000): Promise<Buffer> {
  const written = new WrittenAnswer(encoding);
  const whole = readWhole(decodedAnswer(written), limit, new Lifetime());
  for (const piece of pieces) written.sink?.data(piece);
  written.sink?.end();
  return whole;
}

describe('a compressed answer', () => {
  test.each(names)('%s is decoded, in one piece and byte by byte', async (name) => {
    const encoded = encoders[name](text);
    const bytes = [...encoded].map((byte) => Buffer.of(byte));

    expect(await read(name, [encoded])).toEqual(text);
    expect(await read(name.toUpperCase(), bytes)).toEqual(text);
  });

  test.each(names)('%s that is cut, or is none, is broken', async (name) => {
    for (const body of [encoders[name](text).subarray(0, -9), text]) {
      await expect(read(name, [body])).rejects.toMatchObject({ code: 'provider.broken_response' });
    }
  });

  test.each(names)('a %s bomb is aborted at the limit', async (name) => {
    const written = new WrittenAnswer(name);
    const whole = readWhole(decodedAnswer(written), 100_000, new Lifetime());
    written.sink?.data(encoders[name](Buffer.alloc(20_000_000)));

    await expect(whole).rejects.toMatchObject({ code: 'provider.broken_response' });
    expect(written.wasAborted).toBe(true);
  });

  test.each(['gzip, br', 'gzip, gzip', 'zstd', 'x-gzip', 'compress'])('%s is refused', (encoding) => {
    const written = new WrittenAnswer(encoding);

    expect(() => decodedAnswer(written)).toThrow(GatewayError);
    expect(written.wasAborted).toBe(true);
  });

  test.each([undefined, '', 'identity', ' Identity '])('%j is passed as it is', (encoding) => {
    const written = new WrittenAnswer(encoding);

    expect(decodedAnswer(written)).toBe(written);
  });

  test.each(names)('each event of a %s stream comes as soon as it was sent', async (name) => {
    const written = new WrittenAnswer(name);
    const flush = { finishFlush: constants.Z_SYNC_FLUSH };
    const brFlush = { finishFlush: constants.BROTLI_OPERATION_FLUSH };
    const begun =
      name === 'br' ? brotliCompressSync('data: 1\n\n', brFlush) : encoders[name]('data: 1\n\n', flush);

    const first = await new Promise<string>((resolve, reject) => {
      decodedAnswer(written).pipe({
        data: (chunk) => {
          resolve(chunk.toString());
          return true;
        },
        end: () => reject(new Error('ended')),
        fail: reject,
      });
      written.sink?.data(begun); // and no end
    });

    expect(first).toBe('data: 1\n\n');
  });

  test('is behind while what has arrived is being decoded', async () => {
    const written = new WrittenAnswer('gzip');
    const answer = decodedAnswer(written);
    const decoded = new Promise<void>((end, fail) => {
      answer.pipe({ data: () => true, end, fail });
    });

    written.sink?.data(gzipSync(text));
    const before = answer.isBehind;
    written.sink?.end();
    await decoded;

    expect([before, answer.isBehind]).toEqual([true, false]);
  });

  test('a sink that is full pauses the provider, and is served on when it resumes', async () => {
    const written = new WrittenAnswer('gzip');
    const answer = decodedAnswer(written);
    let [sent, bytes] = [0, 0];
    const done = new Promise<void>((end, fail) => {
      const data = (chunk: Buffer) => {
        bytes += chunk.length;
        return false;
      };
      answer.pipe({ data, end, fail });
    });
    const encoded = gzipSync(Buffer.alloc(4_000_000, 'x'), { level: 0 });
    const send = async () => {
      for (; sent < encoded.length; sent += 65_536) {
        const pauses = written.paused();
        if (written.sink?.data(encoded.subarray(sent, sent + 65_536)) === false) await pauses;
      }
      written.sink?.end();
    };
    const sending = send();
    while (bytes === 0) await new Promise(setImmediate);
    expect(sent).toBeLessThan(1_000_000);
    expect(bytes).toBeLessThan(1_000_000);

    const pump = setInterval(() => answer.resume(), 0);
    await Promise.all([sending, done]);
    clearInterval(pump);

    expect(bytes).toBe(4_000_000);
  });

  test("the provider's failure is passed on", async () => {
    const written = new WrittenAnswer('gzip');
    const whole = readWhole(decodedAnswer(written), 1_000, new Lifetime());
    const error = new GatewayError('provider.timeout', 'late');

    written.sink?.data(gzipSync(text).subarray(0, 20));
    written.sink?.fail(error);

    await expect(whole).rejects.toBe(error);
  });
});

describe('reading whole', () => {
  test('accepts exactly the limit and no more', async () => {
    const read = async (size: number) => {
      const written = new WrittenAnswer();
      const whole = readWhole(written, 10, new Lifetime());
      for (let i = 0; i < size; i += 1) written.sink?.data(Buffer.from('x'));
      written.sink?.end();
      return Promise.resolve(whole).then(String, (error: GatewayError) => [error.code, written.wasAborted]);
    };

    expect(await read(10)).toBe('xxxxxxxxxx');
    expect(await read(11)).toEqual(['provider.broken_response', true]);
    expect(await read(0)).toBe('');
  });

  test('ends with the lifetime, also with one that is over', async () => {
    const left = new GatewayError('client.left', 'the client left');
    for (const when of ['before', 'after']) {
      const written = new WrittenAnswer();
      const lifetime = new Lifetime();
      if (when === 'before') lifetime.end(left);

      const read = async () => readWhole(written, 10, lifetime);
      const whole = read();
      lifetime.end(left);

      await expect(whole).rejects.toBe(left);
      expect(written.wasAborted).toBe(true);
    }
  });
});
