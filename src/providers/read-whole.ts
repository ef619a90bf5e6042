import { GatewayError } from '../errors.ts';
import { GrowingBuffer } from '../growing-buffer.ts';
import type { Lifetime } from '../lifetime.ts';
import type { ProviderAnswer } from './transport/upstream.ts';

/**
 * Buffers a whole answer; without a promise if all of it has arrived. Throws provider.broken_response if it is too large
 * or truncated, and the lifetime's reason if that ends first.
 */
export function readWhole(
  answer: ProviderAnswer,
  limitBytes: number,
  lifetime: Lifetime,
): Buffer | Promise<Buffer> {
  const here = lifetime.reason === undefined ? answer.whole() : undefined;
  if (here !== undefined && here.length <= limitBytes) return here;
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
