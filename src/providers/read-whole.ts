import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatewayError } from '../errors.ts';
import { GrowingBuffer } from '../lib/growing-buffer.ts';
import type { Lifetime } from '../lib/lifetime.ts';
import type { ProviderAnswer } from './transport/pool.ts';

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
      return decoder.readableLength > 0 || answer.isBehind;
    },
    resume: () => decoder.resume(),
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
 * Buffers a whole answer. Rejects with provider.broken_response if it is too large or truncated, and with the lifetime's
 * reason if that ends first.
 */
export function readWhole(answer: ProviderAnswer, limitBytes: number, lifetime: Lifetime): Promise<Buffer> {
  const tooLarge = () => {
    answer.abort();
    const message = `the provider's answer is larger than ${limitBytes} bytes`;
    return new GatewayError('provider.broken_response', message);
  };
  if (Number(answer.headers.get('content-length')) > limitBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const body = new GrowingBuffer();
    const announced = Number(answer.headers.get('content-length') ?? 0);
    const forget = lifetime.onEnd(() => {
      answer.abort();
      reject(lifetime.reason);
    });
    answer.pipe({
      data: (chunk) => {
        if (body.length + chunk.length <= limitBytes) {
          body.append(chunk, announced);
          return true;
        }
        forget();
        reject(tooLarge());
        return true;
      },
      end: () => {
        forget();
        resolve(body.bytes());
      },
      fail: (error) => {
        forget();
        reject(error);
      },
    });
  });
}
