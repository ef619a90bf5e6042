import { type Detector, type Finding, isSureEnough } from '../detector.ts';
import { wordsBefore } from './context-words.ts';

/** What an expression matches, and how a match becomes a finding. */
export interface ExpressionRule {
  /** Global and case-insensitive; every repetition in it is bounded. */
  readonly expression: RegExp;
  /** The confidence; undefined if the value is not of this kind. `value` is in upper case. */
  validate(value: string, context: RuleContext): Pick<Finding, 'confidence' | 'why'> | undefined;
}

export interface RuleContext {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether one of some words precedes the value closely, on the same line. */
  isAnnounced(words: RegExp): boolean;
}

interface Options {
  readonly prefilter: readonly string[];
  readonly reach: number;
  readonly rules: readonly ExpressionRule[];
  /** False if a value in lower case has lost its checksum; for what is only possible the folded text is searched too. */
  readonly folded?: boolean;
  readonly neverCertain?: true;
}

/** A detector for values that an expression matches and a checksum or a nearby word confirms. */
export function createExpressionDetector({ prefilter, rules, folded = true, ...options }: Options): Detector {
  const shared = {
    prefilter: { kind: 'regexes', regexes: prefilter },
    ignoresCase: true,
    ...options,
  } as const;
  const find = (text: string) => rules.flatMap((rule) => findByRule(text, rule));
  return {
    ...shared,
    folded,
    find: (text) => find(text).filter((finding) => isSureEnough(finding, 'likely')),
    possible: { ...shared, folded: true, find },
  };
}

function findByRule(text: string, { expression, validate }: ExpressionRule): readonly Finding[] {
  return [...text.matchAll(expression)].flatMap((match) => {
    // If there is a group named "value", only that part of the match counts.
    const value = match.groups?.value ?? match[0];
    const start = match.index + match[0].lastIndexOf(value);
    const end = start + value.length;
    const isAnnounced = (words: RegExp) => words.test(wordsBefore(text, start));
    const result = validate(value.toUpperCase(), { text, start, end, isAnnounced });
    return result === undefined ? [] : [{ start, end, ...result }];
  });
}

/** An expression for a value that is not a part of a longer number, name, path or sum. */
export function number(pattern: string, flags = 'gi'): RegExp {
  return new RegExp(`(?<![\\w.+/-])${pattern}(?![\\w/]|[-.]\\w)`, flags);
}

/** A value whose shape says too little: it counts only right after its name. */
export function named(
  expression: RegExp,
  words: string,
  result: Pick<Finding, 'confidence' | 'why'>,
): ExpressionRule {
  const announces = announcing(words);
  return { expression, validate: (_, { isAnnounced }) => (isAnnounced(announces) ? result : undefined) };
}

/** One of some words, with nothing between it and the value but signs and a short word or two. */
export function announcing(words: string): RegExp {
  return new RegExp(
    `(?:^|[^a-z])(?:${words})(?:[ _-]?(?:number|num|no|nr|nummer|numero|número|id|code|key))?[^\\p{L}\\d]{0,8}(?:(?:is|ist|est|es|was|of|:|=)[^\\p{L}\\d]{0,4})?$`,
    'u',
  );
}

export const certain = (why: string) => ({ confidence: 'certain', why }) as const;
export const likely = (why: string) => ({ confidence: 'likely', why }) as const;
export const possible = (why: string) => ({ confidence: 'possible', why }) as const;
