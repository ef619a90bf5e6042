import * as z from 'zod';
import { defineMatcher } from './matcher.ts';

/** The longest answer asked for, in tokens: the largest of all caps, however they are spelled. */
export const maxOutputTokens = defineMatcher({
  schema: z
    .strictObject({
      over: z.int().nonnegative().describe('A larger cap than this.'),
      absent: z
        .enum(['allow', 'block'])
        .default('allow')
        .describe('Whether a request without a cap matches: block means that it does.'),
    })
    .describe('The largest cap on output tokens in the request.'),
  compile: ({ over, absent }) => ({
    test({ caps, subject }) {
      const tooLarge = caps.filter(({ tokens }) => tokens > over);
      const [first] = tooLarge;
      if (first !== undefined) {
        const at = subject.document.pointer(first.entry);
        return [{ at, matcher: 'max_output_tokens', count: tooLarge.length }];
      }
      const isAbsent = !caps.some(({ isOwn }) => isOwn);
      return isAbsent && absent === 'block'
        ? [{ at: '', matcher: 'max_output_tokens', count: 1 }]
        : undefined;
    },
  }),
});
