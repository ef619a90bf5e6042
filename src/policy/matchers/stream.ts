import * as z from 'zod';
import { defineMatcher } from './matcher.ts';

/** Whether the request asks for a stream. */
export const stream = defineMatcher({
  schema: z.boolean().describe('Whether the request asks for a stream.'),
  compile: (wanted) => ({
    test: ({ subject }) =>
      subject.stream === wanted ? [{ at: wanted ? '/stream' : '', matcher: 'stream', count: 1 }] : undefined,
  }),
});
