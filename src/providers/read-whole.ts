import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatewayError } from '../errors.ts';
import { GrowingBuffer } from '../lib/growing-buffer.ts';
import type { Lifetime } from '../lib/lifetime.ts';
import type { BodySink, ProviderAnswer } from './transport/pool.ts';

/** Of an error that is read whole. */
export const errorLimitBytes = 256 * 1024;

const decoders = {
  gzip: () => createGunzip({ flush: constants.Z_SYNC_FLUSH }),
  deflate: () => createInflate({ flush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
};

/**
 * The answer as if it had come without `content-encoding`, for providers that compress although identity was requested.
 * Throws provider.broken_response for several encodings or an unknown one.
 */
export function decodedAnswer(answer: ProviderAnswer): ProviderAnswer {
  const encoding = answer.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return answer;
  if (encoding !== 'gzip' && encoding !== 'deflate' && encoding !== 'br') {
    answer.abort();
    throw new GatewayError(
      'provider.broken_response',
      'the provider encoded its answer as nobody asked it to',
    );
  }
  const decoder = decoders[encoding]();
  return {
    status: answer.status,
    headers: answer.headers,
    get isBehind() {
      return decoder.writableLength > 0 || decoder.readableLength > 0 || answer.isBehind;
    },
    resume: () => decoder.resume(),
    flush: () => answer.flush(),
    abort: () => {
      decoder.destroy();
      answer.abort();
    },
    pipe: (sink) => {
      decoder.on('data', (chunk: Buffer) => {
        if (!sink.data(chunk)) decoder.pause();
      });
      decoder.on('end', () => sink.end());
      decoder.on('error', (cause) => {
        answer.abort();
        sink.fail(
          new GatewayError('provider.broken_response', `the answer is not valid ${encoding}`, { cause }),
        );
      });
      answer.pipe({
        data: (chunk) => {
          if (decoder.write(chunk)) return true;
          decoder.once('drain', () => answer.resume());
          return false;
        },
        end: () => decoder.end(),
        fail: (error) => {
          decoder.destroy();
          sink.fail(error);
        },
      });
    },
  };
}

/**
 * Buffers a whole answer; without a promise if all of it is here. Throws provider.broken_response if it is too large or
 * truncated, and the lifetime's reason if that ends first.
 */
export function readWhole(
  answer: ProviderAnswer,
  limitBytes: number,
  lifetime: Lifetime,
): Buffer | Promise<Buffer> {
  if (lifetime.reason !== undefined) {
    answer.abort();
    throw lifetime.reason;
  }
  const announced = Number(answer.headers.get('content-length') ?? 0);
  if (announced > limitBytes) throw tooLarge(answer, limitBytes);
  const here = answer.whole?.();
  if (here !== undefined && here.length > limitBytes) throw tooLarge(answer, limitBytes);
  if (here !== undefined) return here;
  const whole = new WholeAnswer(answer, { limitBytes, announced });
  answer.pipe(whole);
  return whole.read(lifetime);
}

class WholeAnswer implements BodySink {
  readonly #answer: ProviderAnswer;
  readonly #size: { readonly limitBytes: number; readonly announced: number };
  readonly #body = new GrowingBuffer();
  #isComplete = false;
  #failure: GatewayError | undefined;
  #onSettled: (() => void) | undefined;

  constructor(answer: ProviderAnswer, size: { readonly limitBytes: number; readonly announced: number }) {
    this.#answer = answer;
    this.#size = size;
  }

  read(lifetime: Lifetime): Buffer | Promise<Buffer> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isComplete) return this.#body.bytes();
    return new Promise((resolve, reject) => {
      const forget = lifetime.onEnd((reason) => {
        this.#answer.abort();
        reject(reason);
      });
      this.#onSettled = () => {
        forget();
        if (this.#failure === undefined) resolve(this.#body.bytes());
        else reject(this.#failure);
      };
    });
  }

  data(chunk: Buffer): boolean {
    const { limitBytes, announced } = this.#size;
    if (this.#body.length + chunk.length > limitBytes) this.fail(tooLarge(this.#answer, limitBytes));
    else this.#body.append(chunk, announced);
    return true;
  }

  end(): void {
    this.#isComplete = true;
    this.#onSettled?.();
  }

  fail(error: GatewayError): void {
    this.#failure ??= error;
    this.#onSettled?.();
  }
}

function tooLarge(answer: ProviderAnswer, limitBytes: number): GatewayError {
  answer.abort();
  const message = `the provider's answer is larger than ${limitBytes} bytes`;
  return new GatewayError('provider.broken_response', message);
}
