import { joinOverlapping, type Range } from './detectors/detector.ts';
import { PolicySet } from './policy-set.ts';
import { createMatchedKeyHider, type HidePointer, matchesOfRule } from './redact/redact.ts';
import type { Action, Decision, Match, Subject } from './rule.ts';
import { type RuleInputs, shareSearches } from './rule-inputs.ts';
import type { CompiledRule } from './rules/compile-rule.ts';
import { evaluateRule } from './rules/evaluate.ts';
import type { Piece, TextMatch } from './search/search-result.ts';

/** A hostile request matches in each of its texts, and everywhere in them. */
const maxPointers = 100;
const maxRanges = 100;

/**
 * The ranges that a rule matches in each text of a request, at most 100 a text, in order and without overlap, keyed by
 * the text's pointer. Texts inside texts have none, since an offset in them is none in the text that their pointer names.
 */
function matchedRanges(rule: CompiledRule, inputs: RuleInputs): ReadonlyMap<string, readonly Range[]> {
  const found = new Map<string, readonly Range[]>();
  for (const match of matchesOfRule(rule, inputs)) {
    for (const { segment, ...range } of piecesOf(match, rule, inputs)) {
      const { document, entry, outer, isDecoded } = segment.place;
      if (outer !== undefined || isDecoded === true || document.isKey(entry)) continue;
      const pointer = document.pointer(entry);
      const known = found.get(pointer) ?? [];
      if (known.length >= maxRanges || (known.length === 0 && found.size >= maxPointers)) continue;
      found.set(pointer, joinOverlapping([...known, range]).slice(0, maxRanges));
    }
  }
  return found;
}

function piecesOf(match: TextMatch, { except }: CompiledRule, inputs: RuleInputs): readonly Piece[] {
  if (match.pieces !== undefined) return match.pieces;
  const pattern = inputs.pattern(match.pattern);
  if (match.before !== undefined) return inputs.texts.joined(match, pattern, except).across.flat();
  const { segment } = match;
  const ranges = inputs.texts.at(segment.place).rangesOutside(pattern, except);
  return ranges.slice(0, maxRanges).map(({ start, end }) => ({ segment, start, end }));
}

/** A match, with its ranges in the text at its pointer; without where there is no text to point into. */
interface ExplainedMatch extends Match {
  readonly ranges?: readonly Range[];
}

/** One rule, or one of a policy's own options, on one request. */
export interface RuleExplanation {
  readonly policy: string;
  readonly rule: string;
  readonly action: Action;
  readonly mode: 'enforce' | 'monitor';
  readonly reason: string;
  readonly matched: boolean;
  readonly matches: readonly ExplainedMatch[];
  /** Microseconds that the compiled rule takes alone, without cached searches; together, rules share one pass. */
  readonly microseconds: number;
  readonly failure?: unknown;
}

interface Explanation {
  readonly rules: readonly RuleExplanation[];
  readonly decision: Decision;
  readonly microseconds: number;
}

/** Decides as the server does, and shows what each rule decided and how long it took; `now` returns microseconds. */
export function explain(set: PolicySet, subject: Subject, now: () => number): Explanation {
  const { fold } = set;
  const hide = hiderFor(set, subject);
  const rules = set.rules.map((rule) => explainRule(rule, subject, { now, fold, hide }));
  const started = now();
  const decision = set.decide(subject);
  return { rules: withOwnVerdicts(rules, decision), decision, microseconds: now() - started };
}

/** Adds what no rule decides by its conditions on the body: the policies' own options, text that a rule can't read, a path. */
export function withOwnVerdicts(
  rules: readonly RuleExplanation[],
  { verdicts }: Decision,
): readonly RuleExplanation[] {
  const all = [...rules];
  for (const { policy, rule, action, mode, reason, matches } of verdicts) {
    const at = all.findIndex((each) => each.policy === policy && each.rule === rule);
    if (all[at]?.matched === true) continue;
    const explained = { policy, rule, action, mode, reason, matched: true, matches };
    all.splice(at < 0 ? all.length : at, 1, { ...explained, microseconds: all[at]?.microseconds ?? 0 });
  }
  return all;
}

/** Leaves out all places if it can't be determined which may be shown. */
function hiderFor(set: PolicySet, subject: Subject): HidePointer {
  try {
    return createMatchedKeyHider(set.inputs(subject).searchResult);
  } catch {
    // The decision carries the failure.
    return () => '';
  }
}

function explainRule(
  rule: CompiledRule,
  subject: Subject,
  { now, fold, hide }: { now: () => number; fold: PolicySet['fold']; hide: HidePointer },
): RuleExplanation {
  const alone = new PolicySet({ policies: [], builtIn: [rule], fold, searchFor: shareSearches(fold) });
  alone.compile();
  const { policy, id, action, mode, reason } = rule;
  const inputs = alone.inputs(subject);
  const started = now();
  try {
    const verdict = evaluateRule(rule, inputs);
    const microseconds = now() - started;
    const matches =
      verdict === undefined ? [] : explainMatches(verdict.matches, matchedRanges(rule, inputs), hide);
    return { policy, rule: id, action, mode, reason, matched: verdict !== undefined, matches, microseconds };
  } catch (failure) {
    const microseconds = now() - started;
    return { policy, rule: id, action, mode, reason, matched: true, matches: [], microseconds, failure };
  }
}

function explainMatches(
  matches: readonly Match[],
  found: ReadonlyMap<string, readonly Range[]>,
  hide: HidePointer,
): readonly ExplainedMatch[] {
  return matches.map((match) => {
    const ranges = found.get(match.at);
    return { ...match, at: hide(match.at), ...(ranges === undefined ? {} : { ranges }) };
  });
}
