import * as z from 'zod';
import { compileGlob } from '../glob.ts';
import type { OfferedTool } from '../traverse/offered-tools.ts';
import { defineMatcher } from './matcher.ts';

const anyName = /^\*+$/;

/**
 * Tools that a request offers or forces, by globs over their names and built-in types; each as it is
 * written and in its folded view. Tools whose names can't be read could be any, so they match where one
 * match is enough, and only `*` covers them where all must.
 */
export const tools = defineMatcher({
  schema: z
    .array(z.string().min(1))
    .min(1)
    .describe('Names and patterns of the tools that the request offers, forces or allows.'),
  compile(patterns, { fold, quantifier }) {
    const exact = patterns.map(compileGlob);
    const folded = patterns.map((pattern) => compileGlob(fold.text(pattern)));
    const matchesSpelling = (name: string) =>
      exact.some((glob) => glob(name)) || folded.some((glob) => glob(fold.text(name)));
    // Some hosts trim names.
    const matchesName = (name: string) => matchesSpelling(name) || matchesSpelling(name.trim());
    const matches = ({ name, qualified }: OfferedTool) => matchesName(name) || qualified.some(matchesName);
    const coversAll = patterns.some((pattern) => anyName.test(pattern));
    return {
      test({ tools: { named, unnamed }, subject }) {
        const found = named.filter(matches);
        if (quantifier === 'all' && (found.length < named.length || (unnamed.length > 0 && !coversAll))) {
          return undefined;
        }
        const entries = [...found.map(({ entry }) => entry), ...unnamed];
        const [first] = entries;
        if (quantifier === 'any' && first === undefined) return undefined;
        const at = first === undefined ? '' : subject.document.pointer(first);
        return [{ at, matcher: 'tools', count: entries.length }];
      },
    };
  },
});
