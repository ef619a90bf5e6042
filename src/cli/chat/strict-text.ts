import { Transform, type TransformCallback } from 'node:stream';
import { GatewayError } from '../../errors.ts';

/** Fails for bytes that are not UTF-8: otherwise replacement characters would silently be sent, and paid for. */
export function strictText(): Transform {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (done: TransformCallback, chunk?: Buffer) => {
    try {
      done(null, decoder.decode(chunk, { stream: chunk !== undefined }));
    } catch {
      done(
        new GatewayError('usage.invalid', 'standard input is not text in UTF-8; /file attaches other files'),
      );
    }
  };
  return new Transform({
    encoding: 'utf8',
    transform: (chunk, _encoding, done) => decode(done, chunk),
    flush: (done) => decode(done),
  });
}
