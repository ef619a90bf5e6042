import * as z from 'zod';
import { compilePhrase, compileRegex, type NamedPattern } from '../automaton/patterns.ts';
import {
  atLeast,
  type Confidence,
  confidences,
  type Detector,
  defaultConfidence,
} from '../detectors/detector.ts';
import { type DetectorName, detectorNames } from '../detectors/names.ts';
import type { RuleInputs } from '../rule-inputs.ts';
import type { TextMatch } from '../search/search-result.ts';
import { matchesAt } from '../search/text-matches.ts';
import { withoutExcepted } from '../search/viewed-text.ts';
import { bitsOf, everyRole, roleNames } from '../traverse/place.ts';
import { about } from './about.ts';
import { type Condition, defineMatcher, type MatcherContext } from './matcher.ts';

const [firstRole, ...otherRoles] = roleNames;

const phrase = z.string().min(1);
const confidence = z.enum(confidences);

/** `secrets`, or `{ secrets: possible }` for another confidence than `likely`. */
const detection = z.union([z.partialRecord(z.enum(detectorNames), confidence), z.enum(detectorNames)]);

/** The phrases, patterns and detectors to search for, and the roles of the texts. */
export const textSchema = z
  .strictObject({
    phrases: z
      .array(phrase)
      .min(1)
      .optional()
      .register(...about('Literal texts, also inside words.')),
    regex: z
      .array(phrase)
      .min(1)
      .optional()
      .register(...about('Patterns in RE2 syntax.')),
    detect: z
      .array(detection)
      .min(1)
      .optional()
      .register(...about('Detectors; `{ secrets: possible }` finds less certain matches too.')),
    in: z
      .array(z.enum([firstRole as (typeof roleNames)[number], ...otherRoles]))
      .min(1)
      .optional()
      .register(...about('Roles whose texts are searched; default: all.')),
    match: z
      .enum(['exact', 'folded'])
      .default('folded')
      .register(
        ...about('How phrases are compared: folded ignores case, width, marks and invisible characters.'),
      ),
  })
  .refine(
    (options) => options.phrases !== undefined || options.regex !== undefined || options.detect !== undefined,
    'give phrases, regex or detect',
  )
  .register(...about('What occurs in the texts of the request: any of its phrases, patterns and detectors.'));

export type TextOptions = z.infer<typeof textSchema>;

/** The texts of the request, wherever they are. */
export const text = defineMatcher({
  schema: textSchema,
  compile(options, context) {
    const roles = options.in === undefined ? everyRole : bitsOf(options.in);
    return searchFor(compilePatterns(options, context), roles, context.except);
  },
});

/** The condition that some pattern is in a text of one of these roles, and not within an exception. */
export function searchFor(
  patterns: readonly NamedPattern[],
  roles: number,
  except: readonly NamedPattern[],
): Condition {
  const find = (inputs: RuleInputs) =>
    inputs.found(patterns, () => withoutExcepted(findMatches(inputs, patterns, roles), except, inputs));
  return {
    text: { patterns, roles, find },
    test(inputs) {
      if (inputs.searchResult.matches.size === 0) return undefined;
      const matches = matchesAt(find(inputs), inputs);
      return matches.length > 0 ? matches : undefined;
    },
  };
}

/** The patterns of some text options; what doesn't compile is reported and left out. */
export function compilePatterns(options: TextOptions, context: MatcherContext): readonly NamedPattern[] {
  const { match } = options;
  const patterns: NamedPattern[] = [];
  options.phrases?.forEach((source, index) => {
    const compiled = compilePhrase(source, match, context.fold);
    if ('problem' in compiled) context.problem(['phrases', index], compiled.problem);
    else patterns.push({ key: `phrase ${match} ${source}`, pattern: compiled.value });
  });
  options.regex?.forEach((source, index) => {
    if (/^\/.+\/[dgimsuvy]+$/s.test(source)) {
      const message =
        'the slashes are a part of the pattern: without them, flags are written (?i) at its beginning';
      context.problem(['regex', index], message, 'warning');
    }
    const compiled = compileRegex(source, match);
    if ('problem' in compiled) context.problem(['regex', index], compiled.problem);
    else patterns.push({ key: `regex ${match} ${source}`, pattern: compiled.value });
  });
  options.detect?.forEach((detection, index) => {
    const levels = Object.entries(
      typeof detection === 'string' ? { [detection]: defaultConfidence } : detection,
    ) as [DetectorName, Confidence][]; // keys of the schema's own enumeration
    if (levels.length === 0) context.problem(['detect', index], 'name a detector: { secrets: possible }');
    for (const [name, confidence] of levels) {
      if (confidence === 'certain' && context.detector(name).neverCertain) {
        const problem = `${name} is never certain: use likely or possible`;
        context.problem(['detect', index, name], problem);
        continue;
      }
      patterns.push(detectorPattern(name, confidence, () => context.detector(name)));
    }
  });
  return patterns;
}

/** Loads the detector on first use: together they are as large as the rest of the policies. */
function detectorPattern(name: DetectorName, confidence: Confidence, load: () => Detector): NamedPattern {
  let loaded: Detector | undefined;
  return {
    key: `detector ${name} ${confidence}`,
    pattern: {
      kind: 'detector',
      name,
      confidence,
      get detector() {
        loaded ??= atLeast(load(), confidence);
        return loaded;
      },
    },
  };
}

/** Where any of these patterns is in texts of these roles; across segments, the role of either counts. */
function findMatches(
  inputs: RuleInputs,
  patterns: readonly NamedPattern[],
  roles: number,
): readonly TextMatch[] {
  if (inputs.searchResult.matches.size === 0) return [];
  return patterns.flatMap(({ key }) =>
    inputs
      .matches(key)
      .filter(({ segment, before }) => ((segment.roles | (before?.roles ?? 0)) & roles) !== 0),
  );
}
