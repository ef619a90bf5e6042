import * as z from 'zod';
import { compileGlob } from '../glob.ts';
import { defineMatcher } from './matcher.ts';

/** The project that the key belongs to, by globs. */
export const project = defineMatcher({
  schema: z.array(z.string().min(1)).min(1).describe('Names and patterns of the project.'),
  compile(patterns) {
    const globs = patterns.map(compileGlob);
    return {
      test: ({ subject }) =>
        globs.some((glob) => glob(subject.project)) ? [{ at: '', matcher: 'project', count: 1 }] : undefined,
    };
  },
});
