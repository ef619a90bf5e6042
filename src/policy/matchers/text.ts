import * as z from 'zod';
import { type DetectorName, detectors } from '../detectors/registry.ts';
import type { Facts } from '../facts.ts';
import { withoutExcepted } from '../redact/exceptions.ts';
import type { Occurrence } from '../search/findings.ts';
import { compilePattern, compilePhrase } from '../search/patterns.ts';
import { matchesAt } from '../search/text-matches.ts';
import { bitsOf, everyRole, roleNames } from '../traverse/roles.ts';
import { defineMatcher, type MatcherContext, type NamedNeedle } from './matcher.ts';

const detectorNames = Object.keys(detectors) as [DetectorName, ...DetectorName[]];
const [firstRole, ...otherRoles] = roleNames;

const phrase = z.string().min(1);

/** What texts are looked for: phrases, patterns and detectors, any of them; and in whose texts. */
export const textSchema = z
  .strictObject({
    phrases: z.array(phrase).min(1).optional(),
    regex: z.array(phrase).min(1).optional(),
    detect: z.array(z.enum(detectorNames)).min(1).optional(),
    in: z
      .array(z.enum([firstRole as (typeof roleNames)[number], ...otherRoles]))
      .min(1)
      .optional(),
    match: z.enum(['exact', 'folded']).default('folded'),
  })
  .refine(
    (options) => options.phrases !== undefined || options.regex !== undefined || options.detect !== undefined,
    'give phrases, regex or detect',
  );

export type TextOptions = z.infer<typeof textSchema>;

/** The texts of the request, wherever they stand in it. */
export const text = defineMatcher({
  schema: textSchema,
  compile(options, context) {
    const needles = compileNeedles(options, context);
    const roles = options.in === undefined ? everyRole : bitsOf(options.in);
    const find = (facts: Facts) =>
      withoutExcepted(findOccurrences(facts, needles, roles), context.except, facts);
    return {
      text: { needles, roles, find },
      test(facts) {
        if (facts.findings.occurrences.size === 0) return undefined;
        const matches = matchesAt(find(facts), facts);
        return matches.length > 0 ? matches : undefined;
      },
    };
  },
});

/** The needles of some text options; what doesn't compile is reported and left out. */
export function compileNeedles(options: TextOptions, context: MatcherContext): readonly NamedNeedle[] {
  const { match } = options;
  const needles: NamedNeedle[] = [];
  options.phrases?.forEach((source, index) => {
    const compiled = compilePhrase(source, match, context.fold);
    if ('problem' in compiled) context.problem(['phrases', index], compiled.problem);
    else needles.push({ key: `phrase ${match} ${source}`, needle: compiled.value });
  });
  options.regex?.forEach((source, index) => {
    const compiled = compilePattern(source, match);
    if ('problem' in compiled) context.problem(['regex', index], compiled.problem);
    else needles.push({ key: `regex ${match} ${source}`, needle: compiled.value });
  });
  for (const name of options.detect ?? []) {
    const detector = context.detectors[name];
    if (detector !== undefined) {
      needles.push({ key: `detector ${name}`, needle: { kind: 'detector', name, detector } });
    }
  }
  return needles;
}

/** Where any of these needles is in texts of these roles; across a joint, either side's role counts. */
function findOccurrences(
  facts: Facts,
  needles: readonly NamedNeedle[],
  roles: number,
): readonly Occurrence[] {
  if (facts.findings.occurrences.size === 0) return [];
  return needles.flatMap(({ key }) =>
    facts
      .occurrences(key)
      .filter(({ piece, before }) => ((piece.roles | (before?.roles ?? 0)) & roles) !== 0),
  );
}
