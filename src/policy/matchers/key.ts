import * as z from 'zod';
import { compileGlob } from '../glob.ts';
import { defineMatcher } from './matcher.ts';

/** The id of the key, by globs. */
export const key = defineMatcher({
  schema: z.array(z.string().min(1)).min(1).describe('Ids and patterns of the key.'),
  compile(patterns) {
    const globs = patterns.map(compileGlob);
    return {
      test: ({ subject }) =>
        globs.some((glob) => glob(subject.key)) ? [{ at: '', matcher: 'key', count: 1 }] : undefined,
    };
  },
});
