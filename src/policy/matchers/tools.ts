import * as z from 'zod';
import { compileGlob } from '../glob.ts';
import { defineMatcher } from './matcher.ts';

/**
 * Tools that a request offers or forces, by globs over their names and built-in types; each as it is
 * written and in its folded view.
 */
export const tools = defineMatcher({
  schema: z.array(z.string().min(1)).min(1),
  compile(patterns, { fold, quantifier }) {
    const exact = patterns.map(compileGlob);
    const folded = patterns.map((pattern) => compileGlob(fold.text(pattern).text));
    const matches = (name: string) =>
      exact.some((glob) => glob(name)) || folded.some((glob) => glob(fold.text(name).text));
    return {
      test({ tools: offered, subject }) {
        const found = offered.filter(({ name }) => matches(name));
        if (quantifier === 'all' && found.length < offered.length) return undefined;
        const [first] = found;
        if (quantifier === 'any' && first === undefined) return undefined;
        const at = first === undefined ? '' : subject.document.pointer(first.entry);
        return [{ at, matcher: 'tools', count: found.length }];
      },
    };
  },
});
