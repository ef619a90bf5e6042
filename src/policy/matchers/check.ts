import * as z from 'zod';
import { shownPlace } from '../../dialects/place-names.ts';
import { durationPattern, parseDuration } from '../../lib/duration.ts';
import type { NamedPattern } from '../automaton/patterns.ts';
import type { CheckFinding } from '../checks/check-book.ts';
import { defaultConfidence } from '../detectors/detector.ts';
import { compileGlob } from '../glob.ts';
import type { RuleInputs } from '../rule-inputs.ts';
import type { TextMatch } from '../search/search-result.ts';
import { matchesAt } from '../search/text-matches.ts';
import { withoutExcepted } from '../search/viewed-text.ts';
import { bitsOf, everyRole, placeInRequest, roleNames, textOf } from '../traverse/place.ts';
import { about } from './about.ts';
import { defineMatcher } from './matcher.ts';

/** Where texts go to be checked; what a file that was found may name here is decided in `config/trust/`. */
export const checkUrl = z
  .string()
  .regex(
    /^https?:\/\/[^/\s@]+(?:\/[^\s#]*)?$/,
    'expected an http:// or https:// URL without user and password',
  )
  .refine((text) => URL.canParse(text), 'expected a URL');

const timeout = z
  .string()
  .regex(durationPattern, 'expected a duration such as 500ms, 10s or 1m')
  .refine((text) => (parseDuration(text) ?? 0) > 0, 'expected more than 0, and at most 596h');

const maxCache = 1_000_000;
const [firstRole, ...otherRoles] = roleNames;

/**
 * What a service from outside finds in the texts of the conversation. It is asked before the decision, once for each text
 * (`CheckBook`); where it can't be, the rule can't be evaluated.
 */
export const check = defineMatcher({
  schema: z
    .strictObject({
      url: checkUrl.register(...about('Where texts are POSTed to: any service, or /analyze of Presidio.')),
      api: z
        .enum(['gateway', 'presidio'])
        .default('gateway')
        .register(
          ...about("How it is asked: gateway (docs/checks.md), or presidio for Presidio's analyzer."),
        ),
      timeout: timeout
        .default('10s')
        .register(...about('Longest time for one call; then the request is refused.')),
      cache: z
        .int()
        .min(0)
        .max(maxCache)
        .default(20_000)
        .register(
          ...about('How many texts, and findings in them, are remembered by a hash; 0 asks about each anew.'),
        ),
      kinds: z
        .array(z.string().min(1))
        .min(1)
        .optional()
        .register(...about('Names and patterns of the kinds that count; default: all.')),
      min_score: z
        .number()
        .min(0)
        .max(1)
        .default(0.5)
        .register(...about('Findings with a lower score do not count.')),
      language: z
        .string()
        .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/, 'expected a language such as en')
        .default('en')
        .register(...about('What Presidio is told that texts are in.')),
      in: z
        .array(z.enum([firstRole as (typeof roleNames)[number], ...otherRoles]))
        .min(1)
        .optional()
        .register(...about('Roles whose texts are checked; default: all.')),
    })
    .register(...about('What a service of your own finds in the texts of the conversation.')),
  compile(options, { checks, labels, except }) {
    const { url, api, language, cache, kinds, min_score: least } = options;
    const timeoutMs = parseDuration(options.timeout) ?? 0; // the schema has accepted it
    const service = checks.service({ url, api, language, cache, timeoutMs });
    const globs = kinds?.map(compileGlob);
    const counts = ({ kind, score }: CheckFinding) =>
      score >= least && (globs === undefined || globs.some((glob) => glob(kind)));
    const findIn = (text: string, at: () => string) =>
      outsideLabels(text, checks.find(service, text, at).filter(counts), labels);
    const named: NamedPattern = {
      key: `check ${JSON.stringify([service, kinds, least])}`,
      pattern: {
        kind: 'detector',
        name: 'check',
        confidence: defaultConfidence,
        detector: {
          prefilter: { kind: 'asked' },
          reach: 0,
          folded: false,
          holdsSpace: 'never',
          find: (text) => findIn(text, () => '').map(({ start, end, kind }) => ({ start, end, why: kind })),
        },
      },
    };
    const roles = options.in === undefined ? everyRole : bitsOf(options.in);
    const find = (inputs: RuleInputs) =>
      inputs.found(named, () => {
        if (inputs.subject.isValue) return [];
        const found = inputs.searchResult.conversation.filter((segment) => {
          if ((segment.roles & roles) === 0) return false;
          const at = () => shownPlace(inputs.subject.document.pointer(placeInRequest(segment.place).entry));
          return findIn(textOf(segment.place), at).length > 0;
        });
        const number = inputs.numberOf(named.key);
        const matches = found.map((segment): TextMatch => ({ pattern: number, view: 'exact', segment }));
        return withoutExcepted(matches, except, inputs);
      });
    return {
      text: { patterns: [named], roles, find },
      test(inputs) {
        const matches = matchesAt(find(inputs), inputs).map((match) => ({ ...match, matcher: 'check' }));
        return matches.length > 0 ? matches : undefined;
      },
    };
  },
});

/** What the gateway wrote in place of something is no finding, unless there is more in it than labels and what joins them. */
function outsideLabels(
  text: string,
  found: readonly CheckFinding[],
  labels: ReadonlySet<string>,
): readonly CheckFinding[] {
  if (found.length === 0 || !text.includes('[REDACTED:')) return found;
  const rest = text.replaceAll(/\[REDACTED:[a-z0-9._-]{1,64}\]/g, (label) =>
    labels.has(label) ? ' '.repeat(label.length) : label,
  );
  return found.filter(({ start, end }) => {
    const own = rest.slice(start, end);
    return own === text.slice(start, end) || /[^\s\p{P}]/u.test(own);
  });
}
