import { shownPlace } from '../../dialects/place-names.ts';
import { byteLists } from '../../dialects/stream-parts.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import type { NamedPattern } from '../automaton/patterns.ts';
import type { Checkpoint } from '../checkpoint.ts';
import type { Fold } from '../fold/fold.ts';
import { type Match, type Refusal, refuses, strictest, type Verdict } from '../rule.ts';
import { compileSearch, type RuleInputs } from '../rule-inputs.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import { evaluateRule, verdictOf } from '../rules/evaluate.ts';
import type { Search } from '../search/search.ts';
import type { TextMatch } from '../search/search-result.ts';
import { readAnswerText, readPlain } from '../streams/answer-text.ts';
import { placeInRequest, roleBits, wrapText } from '../traverse/place.ts';
import { AnswerPlan, WholeTexts } from './answer-plan.ts';
import {
  type AnswerRule,
  foundBy,
  type ResponseDecision,
  refusalOf,
  StreamVerdicts,
  unreadableRefusal,
} from './answer-rule.ts';
import { StreamCheck } from './stream-check.ts';

/** The rules on texts of answers, for one exchange. */
export interface ResponseCheck {
  /** Checks a whole JSON answer. Throws nothing but `GivenUp`, if the checkpoint does. */
  whole(body: Buffer, checkpoint?: Checkpoint): ResponseDecision;
  /** Checks a stream of events, and holds back what may be the beginning of a match. */
  stream(): StreamCheck;
}

/** Compiles a set's rules on answers; undefined if there are none, so that answers cost nothing. */
export class AnswerRules {
  readonly search: Search;
  readonly rules: readonly AnswerRule[];
  /** The same without their conditions on texts. */
  readonly #others: readonly CompiledRule[];

  private constructor(rules: readonly CompiledRule[], fold: Fold) {
    const { search, numbers } = compileSearch(rules.flatMap(patternsOf), fold);
    this.search = search;
    this.rules = rules.map((rule) => ({
      rule,
      patterns: patternsOf(rule).map(({ key }) => numbers.get(key) as number),
    }));
    this.#others = rules.map((rule) => ({
      ...rule,
      when: rule.when?.filter(({ text }) => text === undefined),
    }));
  }

  static of(rules: readonly CompiledRule[], fold: Fold): AnswerRules | undefined {
    const chosen = rules.filter(
      (rule) => rule.appliesTo.includes('response') && patternsOf(rule).length > 0 && isOfAnswers(rule),
    );
    return chosen.length === 0 ? undefined : new AnswerRules(chosen, fold);
  }

  /** Indexes of the rules whose other conditions (model, project, time …) hold for the request being answered. */
  applying(inputs: RuleInputs): readonly number[] {
    return this.#others.flatMap((rule, number) => (evaluateRule(rule, inputs) === undefined ? [] : [number]));
  }

  /** The rules with these numbers; undefined if there are none. */
  check(numbers: readonly number[]): ResponseCheck | undefined {
    const rules = this.rules.filter((_, number) => numbers.includes(number));
    if (rules.length === 0) return undefined;
    return {
      whole: (body, checkpoint) => checkWhole(body, { rules, search: this.search, checkpoint }),
      stream: () => new StreamCheck(rules, this.search),
    };
  }
}

interface AnswerCheck {
  readonly rules: readonly AnswerRule[];
  readonly search: Search;
  readonly checkpoint?: Checkpoint | undefined;
}

function isOfAnswers(rule: CompiledRule): boolean {
  return (rule.when ?? []).some(({ text }) => text !== undefined && (text.roles & roleBits.assistant) !== 0);
}

/** Its exceptions (`unless`) are about the request, and must hold nothing back of an answer. */
function patternsOf(rule: CompiledRule): readonly NamedPattern[] {
  return (rule.when ?? []).flatMap(({ text }) => text?.patterns ?? []);
}

function checkWhole(body: Buffer, { rules, search, checkpoint }: AnswerCheck): ResponseDecision {
  const strict = readAnswerText(body);
  const unreadable =
    strict === undefined
      ? unreadableRefusal(rules, 'the answer is JSON that can be read in more than one way')
      : undefined;
  if (unreadable !== undefined) return { action: 'block', verdicts: [], refusal: unreadable };
  const { document, unwrap } = strict ?? readPlain(body.toString('utf8'));
  const { matches } = search.document(document, roleBits.assistant, checkpoint);
  const verdicts: Verdict[] = [];
  const plan = new AnswerPlan({ document, search });
  let refusal: Refusal | undefined;
  for (const each of rules) {
    const { rule } = each;
    const found = foundBy(each, matches, plan.searched);
    if (found.length === 0) continue;
    verdicts.push(verdictOf(rule, matchesOf(found, document)));
    if (rule.mode === 'monitor') continue;
    if (refuses(rule.action)) refusal ??= refusalOf(rule);
    if (rule.action === 'redact') plan.add(each, found);
  }
  refusal ??= plan.refusal() ?? refusalOfBytes(document, { rules, search });
  if (refusal !== undefined) return { action: 'block', verdicts, refusal };
  const action = strictest(verdicts.flatMap((each) => (each.mode === 'enforce' ? [each.action] : [])));
  return { action, verdicts, ...(action === 'redact' ? { redactedBody: unwrap(plan.bytes()) } : {}) };
}

/** What is repeated as numbers can't be replaced, so a rule that finds something there refuses the answer. */
function refusalOfBytes(
  document: JsonDocument,
  { rules, search }: { readonly rules: readonly AnswerRule[]; readonly search: Search },
): Refusal | undefined {
  // A name may be spelled with escapes.
  if (!document.bytes.includes('"bytes"') && !document.bytes.includes('\\u')) return undefined;
  const verdicts = new StreamVerdicts();
  const texts = new WholeTexts({ rules, search, verdicts });
  for (const { text } of byteLists(document, document.root)) texts.check(wrapText(text));
  return verdicts.refusal;
}

function matchesOf(found: readonly TextMatch[], document: JsonDocument): readonly Match[] {
  return found.slice(0, 8).map(({ segment, view }) => ({
    at: shownPlace(document.pointer(placeInRequest(segment.place).entry)),
    view,
    matcher: 'text',
    count: 1,
  }));
}
