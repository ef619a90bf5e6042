import type { JsonDocument } from '../dialects/json-document.ts';
import { parseStrictJson } from '../dialects/strict-json.ts';
import { type AnswerRule, type ResponseDecision, refusalOf, verdictOf } from './answer-rule.ts';
import type { CompiledRule } from './compile-rule.ts';
import { spansOutside } from './exceptions.ts';
import type { Facts } from './facts.ts';
import type { Condition, NamedNeedle } from './matcher.ts';
import { placeInRequest, textOf, wrapText } from './place.ts';
import { Plan } from './redact.ts';
import { isRedactable } from './redactable.ts';
import { roleBits } from './roles.ts';
import { type Match, strictest, type Verdict } from './rule.ts';
import { type Occurrence, Search } from './search.ts';
import { StreamCheck } from './stream-check.ts';
import type { Fold } from './text/fold.ts';
import { buildMachine } from './text/machine.ts';
import type { Needle } from './text/needles.ts';
import { VerdictCache } from './text/verdict-cache.ts';

/** The rules on texts of answers, for one exchange. */
export interface ResponseCheck {
  /** Checks a whole JSON answer. */
  whole(body: Buffer): ResponseDecision;
  /** Checks a stream of events, holding back what may be the beginning of a match. */
  stream(): StreamCheck;
}

/** Compiles the rules on answers of a set; undefined where there are none, and answers cost nothing. */
export class AnswerRules {
  readonly search: Search;
  readonly rules: readonly AnswerRule[];
  readonly #others: ReadonlyMap<AnswerRule, readonly Condition[]>;

  private constructor(rules: readonly CompiledRule[], fold: Fold) {
    const named = new Map<string, NamedNeedle>();
    for (const rule of rules) for (const each of needlesOf(rule)) named.set(each.key, each);
    const numbers = new Map([...named.keys()].map((key, number) => [key, number]));
    const machine = buildMachine(
      [...named.values()].map(({ needle }) => needle),
      fold,
    );
    this.search = new Search(machine, new VerdictCache({ limitBytes: 1 << 16 }));
    this.rules = rules.map((rule) => ({
      rule,
      needles: needlesOf(rule).map(({ key }) => numbers.get(key) as number),
      except: rule.except.map(({ needle }) => needle),
    }));
    this.#others = new Map(
      this.rules.map((each) => [each, (each.rule.when ?? []).filter(({ text }) => text === undefined)]),
    );
  }

  static of(rules: readonly CompiledRule[], fold: Fold): AnswerRules | undefined {
    const chosen = rules.filter(
      (rule) => rule.appliesTo.includes('response') && needlesOf(rule).length > 0 && isOfAnswers(rule),
    );
    return chosen.length === 0 ? undefined : new AnswerRules(chosen, fold);
  }

  /** Numbers of the rules whose other conditions (model, project, time …) hold for the request that is answered. */
  applying(facts: Facts): readonly number[] {
    return this.rules.flatMap((each, number) => (this.#applies(each, facts) ? [number] : []));
  }

  /** The rules with these numbers; undefined where there are none. */
  check(numbers: readonly number[]): ResponseCheck | undefined {
    const rules = this.rules.filter((_, number) => numbers.includes(number));
    if (rules.length === 0) return undefined;
    return {
      whole: (body) => checkWhole(body, rules, this.search),
      stream: () => new StreamCheck({ rules, machine: this.search.machine, search: this.search }),
    };
  }

  #applies(each: AnswerRule, facts: Facts): boolean {
    const others = this.#others.get(each) ?? [];
    if (!others.every((condition) => condition.test(facts) !== undefined)) return false;
    const { unless } = each.rule;
    return unless === undefined || unless.some((condition) => condition.test(facts) === undefined);
  }
}

function isOfAnswers(rule: CompiledRule): boolean {
  return (rule.when ?? []).some(({ text }) => text !== undefined && (text.roles & roleBits.assistant) !== 0);
}

function needlesOf(rule: CompiledRule): readonly NamedNeedle[] {
  return (rule.when ?? []).flatMap(({ text }) => text?.needles ?? []);
}

/** Answers are JSON; what isn't is read as one text. */
function readAnswer(body: Buffer): JsonDocument {
  try {
    return parseStrictJson(body);
  } catch {
    // Whatever a provider sends in place of JSON is checked all the same.
    return wrapText(body.toString('utf8'));
  }
}

function checkWhole(body: Buffer, rules: readonly AnswerRule[], search: Search): ResponseDecision {
  const document = readAnswer(body);
  const { occurrences } = search.document(document, roleBits.assistant);
  const { fold, needles } = search.machine;
  const verdicts: Verdict[] = [];
  const plan = new Plan(document);
  let refusal: ResponseDecision['refusal'];
  for (const { rule, needles: numbers, except } of rules) {
    const found = numbers
      .flatMap((number) => occurrences.get(number) ?? [])
      .filter((occurrence) => isOutside(occurrence, except, needles, fold));
    if (found.length === 0) continue;
    verdicts.push(verdictOf(rule, matchesOf(found, document)));
    if (rule.mode === 'monitor') continue;
    if (rule.action === 'block') refusal ??= refusalOf(rule);
    if (rule.action !== 'redact') continue;
    for (const occurrence of found) {
      const label = `[REDACTED:${rule.reason}]`;
      const needle = needles[occurrence.needle] as Needle;
      const problem = isRedactable(occurrence.piece.place)
        ? plan.add({ occurrence, needle, fold, except, label })
        : occurrence.piece.place;
      if (problem !== undefined) refusal ??= refusalOf(rule, 'content.unredactable');
    }
  }
  const action =
    refusal === undefined ? strictest(verdicts.filter(({ mode }) => mode === 'enforce')) : 'block';
  return {
    action,
    verdicts,
    ...(refusal === undefined ? {} : { refusal }),
    ...(action === 'redact' ? { redactedBody: plan.apply() } : {}),
  };
}

function isOutside(
  { needle, piece }: Occurrence,
  except: readonly Needle[],
  needles: readonly Needle[],
  fold: Fold,
): boolean {
  if (except.length === 0) return true;
  return spansOutside(needles[needle] as Needle, except, textOf(piece.place), fold).length > 0;
}

function matchesOf(found: readonly Occurrence[], document: JsonDocument): readonly Match[] {
  return found.slice(0, 8).map(({ piece, view }) => ({
    at: document.pointer(placeInRequest(piece.place).entry),
    view,
    matcher: 'text',
    count: 1,
  }));
}
