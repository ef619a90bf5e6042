import { createTextScrubber, Scrubber } from './scrub.ts';

/** Masks secrets in everything that leaves: none of them may be in an answer, a record or an error. */
export interface Masks {
  /** The same object if there are none. */
  bytes(body: Buffer): Buffer;
  text(text: string): string;
}

export function createMasks(secrets: readonly string[]): Masks {
  const scrubber = new Scrubber(secrets);
  return {
    bytes: (body) => scrubber.scrub(body),
    text: createTextScrubber(secrets),
  };
}

/** Masks the secrets of both. */
export function bothMasks(first: Masks, second: Masks): Masks {
  return {
    bytes: (body) => second.bytes(first.bytes(body)),
    text: (text) => second.text(first.text(text)),
  };
}
