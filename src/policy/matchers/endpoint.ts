import * as z from 'zod';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import { defineMatcher } from './matcher.ts';

const names = Object.keys(dialects) as [DialectName, ...DialectName[]];

/** The endpoint, which is the dialect the client speaks. */
export const endpoint = defineMatcher({
  schema: z.array(z.enum(names)).min(1).describe('The request speaks one of these dialects.'),
  compile: (endpoints) => ({
    test: ({ subject }) =>
      endpoints.includes(subject.endpoint) ? [{ at: '', matcher: 'endpoint', count: 1 }] : undefined,
  }),
});
