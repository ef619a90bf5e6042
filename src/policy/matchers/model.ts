import * as z from 'zod';
import { compileGlob } from '../glob.ts';
import { defineMatcher } from './matcher.ts';

const modelCharacters = /^[A-Za-z0-9._:/@+*?-]+$/;

/**
 * The model, by globs over the requested name and the names at every provider that may be tried. Some hosts ignore case:
 * a condition that refuses matches in any, an exception only as written.
 */
export const model = defineMatcher({
  schema: z
    .array(z.string().min(1))
    .min(1)
    .describe('Names and patterns of the model, as asked for and at every provider that may be tried.'),
  compile(patterns, { quantifier, problem }) {
    patterns.forEach((pattern, index) => {
      if (modelCharacters.test(pattern)) return;
      problem(
        [index],
        `no model can be called ${JSON.stringify(pattern)}: names consist of A-Z a-z 0-9 . _ : / @ + -`,
        'warning',
      );
    });
    const inCase = (name: string) => (quantifier === 'any' ? name.toLowerCase() : name);
    const globs = patterns.map((pattern) => compileGlob(inCase(pattern)));
    const matches = (name: string) => globs.some((glob) => glob(inCase(name)));
    return {
      test({ models }) {
        const holds = quantifier === 'any' ? models.some(matches) : models.every(matches);
        return holds ? [{ at: '/model', matcher: 'model', count: 1 }] : undefined;
      },
    };
  },
});
