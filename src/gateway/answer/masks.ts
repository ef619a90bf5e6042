import type { Dialect } from '../../dialects/dialect.ts';
import type { AnswerStream } from './answer-stream.ts';
import { createTextScrubber, Scrubber } from './scrub.ts';
import { ScrubbedStream } from './scrubbed-stream.ts';

/** Masks secrets in everything that leaves: none of them may be in an answer, a record or an error. */
export interface Masks {
  /** The same object if there are none. */
  bytes(body: Buffer): Buffer;
  text(text: string): string;
  /** `stream` must return whole events of the dialect. */
  stream(stream: AnswerStream, dialect: Dialect): AnswerStream;
}

export function createMasks(secrets: readonly string[]): Masks {
  const scrubber = new Scrubber(secrets);
  return {
    bytes: (body) => scrubber.scrub(body),
    text: createTextScrubber(secrets),
    stream: (stream, dialect) => new ScrubbedStream(stream, scrubber, dialect),
  };
}

/** Masks the secrets of both. */
export function bothMasks(first: Masks, second: Masks): Masks {
  return {
    bytes: (body) => second.bytes(first.bytes(body)),
    text: (text) => second.text(first.text(text)),
    stream: (stream, dialect) => second.stream(first.stream(stream, dialect), dialect),
  };
}
