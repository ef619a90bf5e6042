import * as z from 'zod';
import { defineMatcher } from './matcher.ts';

/** The size of the body in bytes, after decompression. */
export const bytes = defineMatcher({
  schema: z
    .strictObject({ over: z.int().nonnegative().describe('More bytes than this.') })
    .describe('Size of the body, after decompression.'),
  compile: ({ over }) => ({
    test: ({ subject }) =>
      subject.document.bytes.length > over ? [{ at: '', matcher: 'bytes', count: 1 }] : undefined,
  }),
});
