import { AnswerRules, type ResponseCheck } from './answers/check-answer.ts';
import { type Checkpoint, GivenUp } from './checkpoint.ts';
import { type CheckBook, CheckFailed } from './checks/check-book.ts';
import { type ConversationSize, conversationId, type PeakSizes } from './conversations.ts';
import { decideRedacted } from './decide-redacted.ts';
import type { Fold } from './fold/fold.ts';
import { type HeaderValue, HeaderValues } from './header-values.ts';
import type { Placeholders } from './mask/placeholders.ts';
import { storedConversation } from './mask/stored-conversation.ts';
import { createPointerHider, type HidePointer } from './redact/redact.ts';
import { replaceMatches } from './replace-matches.ts';
import {
  type ChosenRoute,
  noRoute,
  type RoutePlan,
  type RouteTarget,
  takeEntries,
  targetsOf,
  toRoute,
} from './routes.ts';
import {
  type Block,
  type Decision,
  type Match,
  type Pass,
  refuses,
  replaces,
  type Subject,
  strictest,
  toRefusal,
  type Verdict,
  withholds,
} from './rule.ts';
import { type Patterns, RuleInputs, type SharedSearch } from './rule-inputs.ts';
import { builtInPolicy } from './rules/built-in.ts';
import {
  type CompiledConditions,
  type CompiledPolicy,
  type CompiledRule,
  conditionsOnText,
  patternsIn,
} from './rules/compile-rule.ts';
import { capLimit, evaluateRule, isOnCaps, verdictOf } from './rules/evaluate.ts';
import { placeInRequest } from './traverse/place.ts';
import { keptName, type UnseenKind } from './traverse/unseen.ts';

interface SetParts {
  readonly policies: readonly CompiledPolicy[];
  /** Rules of no policy, that always hold. */
  readonly builtIn: readonly CompiledRule[];
  readonly fold: Fold;
  readonly searchFor: SharedSearch;
  /** Set if rules mask. */
  readonly placeholders?: Placeholders | undefined;
  /** Set if rules or routes ask services. */
  readonly checks?: CheckBook | undefined;
  readonly routes?: CompiledRoutes | undefined;
}

/** The conditions of entries of the model list, by the entry's number. */
export type CompiledRoutes = ReadonlyMap<number, CompiledConditions>;

const noRoutes: CompiledRoutes = new Map();

/** What is decided about a request, and where it goes. */
interface RoutedDecision {
  readonly decision: Decision;
  readonly route: ChosenRoute;
  /** With the names of its targets. */
  readonly subject: Subject;
  /** What was found in what may leave; undefined if that is not known. */
  readonly inputs?: RuleInputs | undefined;
  /** Set if conditions on its size may move the conversation. */
  readonly conversation?: ConversationSize | undefined;
}

/** Where a decision may be given up, and what is known of conversations. */
export interface RoutedOptions {
  readonly checkpoint?: Checkpoint | undefined;
  readonly peaks?: PeakSizes | undefined;
}

/** The policies that apply to one key, as one: their rules accumulate, and the strictest wins. */
export class PolicySet {
  readonly names: readonly string[];
  /** The rules on requests. */
  readonly rules: readonly CompiledRule[];
  readonly fold: Fold;
  /** What services say of texts; decisions are then made within `CheckBook.decide`. Undefined if none is asked. */
  readonly checks: CheckBook | undefined;
  readonly #policies: readonly CompiledPolicy[];
  readonly #searchFor: SharedSearch;
  #patterns: Patterns | undefined;
  readonly #patternsOf = () => this.#compiled();
  /** Whether a policy refuses what no rule allows. */
  readonly #mayDeny: boolean;
  readonly #answers: AnswerRules | undefined;
  readonly #values: HeaderValues;
  readonly #capRules: readonly CompiledRule[];
  readonly #placeholders: Placeholders | undefined;
  readonly #routes: CompiledRoutes;
  /** The rules that refuse a request to some providers. */
  readonly #providerRules: readonly CompiledRule[];

  constructor({ policies, builtIn, fold, searchFor, placeholders, checks, routes = noRoutes }: SetParts) {
    this.names = policies.map(({ name }) => name);
    this.fold = fold;
    this.checks = checks;
    this.#searchFor = searchFor;
    this.#policies = policies;
    this.#mayDeny = policies.some(({ options }) => options.default === 'deny');
    const all = [...builtIn, ...policies.flatMap(({ rules }) => rules)];
    this.rules = all.filter((rule) => rule.appliesTo.includes('request'));
    this.#answers = AnswerRules.of(all, fold);
    this.#values = new HeaderValues(this.rules, (subject) => this.inputs(subject));
    this.#capRules = this.rules.filter(isOnCaps);
    this.#placeholders = placeholders;
    this.#routes = routes;
    this.#providerRules = this.rules.filter(isOnProvider);
  }

  /**
   * Compiles what texts are searched for, which otherwise the first request does: the detectors' patterns take a tenth of
   * a second, which commands that decide nothing need not spend.
   */
  compile(): void {
    this.#compiled();
  }

  #compiled(): Patterns {
    this.#patterns ??= this.#searchFor([...this.rules, ...this.#routes.values()].flatMap(patternsIn));
    return this.#patterns;
  }

  /**
   * What the policies decide about a request. What can't be evaluated is blocked; throws nothing but `GivenUp`, if the
   * checkpoint does.
   */
  decide(subject: Subject, checkpoint?: Checkpoint): Decision {
    return this.#decideFor(this.inputs(subject, checkpoint), checkpoint).decision;
  }

  /** The same for a client's request, and where it goes: its texts are searched once for both. */
  decideRouted(subject: Subject, plan: RoutePlan, { checkpoint, peaks }: RoutedOptions = {}): RoutedDecision {
    if (plan.fixed !== undefined && this.#providerRules.length === 0) {
      const { decision, inputs } = this.#decideFor(this.inputs(subject, checkpoint), checkpoint);
      return { decision, inputs, route: plan.fixed, subject };
    }
    const { sizeBound } = plan;
    const id = sizeBound === undefined ? undefined : conversationId(subject);
    const peakTokens = id === undefined ? undefined : peaks?.get(id);
    const inputs = new RuleInputs(subject, this.#patternsOf, {
      ...(checkpoint && { checkpoint }),
      ...(peakTokens !== undefined && { peakTokens }),
    });
    let route: ChosenRoute;
    try {
      route = this.#chooseRoute(inputs, plan);
    } catch (cause) {
      if (cause instanceof GivenUp) throw cause;
      return { decision: failedDecision('models', cause, []), route: noRoute, subject };
    }
    const routed = inputs.withTargets(route);
    return {
      ...this.#decideFor(routed, checkpoint),
      route,
      subject: routed.subject,
      conversation:
        id === undefined || sizeBound === undefined ? undefined : sizeOf(inputs, { id, sizeBound }),
    };
  }

  /** Throws what a matcher throws. */
  #chooseRoute(inputs: RuleInputs, { candidates, fixed }: RoutePlan): ChosenRoute {
    const entries = fixed?.entries ?? takeEntries(candidates, (entry) => this.#routes.get(entry), inputs);
    const all = targetsOf(entries, candidates);
    const open =
      this.#providerRules.length === 0 ? all : all.filter((target) => !this.#refuses(target, inputs));
    // Where all are refused, the decision says by which rule.
    const isChosen = fixed === undefined;
    const route = toRoute(entries, open.length > 0 ? open : all, { isChosen });
    if (!entries.some(({ matches }) => matches.some(({ at }) => at !== ''))) return route;
    const hide = createPointerHider(inputs.searchResult);
    return {
      ...route,
      entries: entries.map(({ entry, matches }) => ({ entry, matches: matches.map(hideInMatch(hide)) })),
    };
  }

  /**
   * Whether a rule refuses the request to this target, or its service can't say: where no target is left, the decision
   * names that rule.
   */
  #refuses({ provider, model }: RouteTarget, inputs: RuleInputs): boolean {
    const there = inputs.withTargets({ targetModels: [model], providers: [provider] });
    return this.#providerRules.some((rule) => {
      try {
        return evaluateRule(rule, there, inputs) !== undefined;
      } catch (cause) {
        if (cause instanceof CheckFailed) return true;
        throw cause;
      }
    });
  }

  /** With what was found in the last document that was decided on: if it passes, the one that may leave. */
  #decideFor(
    inputs: RuleInputs,
    checkpoint: Checkpoint | undefined,
  ): Required<Pick<RoutedDecision, 'decision' | 'inputs'>> {
    const first = this.#decideOnce(inputs);
    if (first.redacted === undefined) return { decision: first, inputs };
    const { subject } = inputs;
    let last = inputs;
    const decision = decideRedacted(first, (document, policies) => {
      const redactedBy = [...(subject.redactedBy ?? []), ...policies];
      last = this.inputs({ ...subject, document, redactedBy }, checkpoint);
      return this.#decideOnce(last);
    });
    return { decision, inputs: last };
  }

  #decideOnce(inputs: RuleInputs): Decision {
    let verdicts = none;
    for (const rule of this.rules) {
      try {
        const verdict = evaluateRule(rule, inputs);
        if (verdict !== undefined) verdicts = [...verdicts, verdict];
      } catch (cause) {
        if (cause instanceof GivenUp) throw cause;
        // A rule that only records refuses nothing because a service is away.
        if (cause instanceof CheckFailed && rule.mode === 'monitor')
          verdicts = [...verdicts, verdictOf(rule, unchecked)];
        else return failedDecision(rule.id, cause, verdicts);
      }
    }
    try {
      const own = this.#ownVerdicts(inputs, verdicts);
      if (own.length > 0) verdicts = [...verdicts, ...own];
      if (verdicts.length === 0) return nothingFound(inputs);
      const hide = createPointerHider(inputs.searchResult);
      return this.#conclude(
        inputs,
        verdicts.map((verdict) => hideInVerdict(verdict, hide)),
        hide,
      );
    } catch (cause) {
      if (cause instanceof GivenUp) throw cause;
      return failedDecision('policy', cause, verdicts);
    }
  }

  /** Which rules apply to the answer to a request. Their numbers mean the same in another thread's copy of the set. */
  answerRules(subject: Subject): readonly number[] {
    return this.#answers?.applying(this.inputs(subject)) ?? [];
  }

  /** The rules on answers with these numbers; undefined if there are none: answers then cost nothing. */
  checkAnswers(numbers: readonly number[]): ResponseCheck | undefined {
    return this.#answers?.check(numbers);
  }

  /** Whether a text that leaves besides the body was evaluated before, and nothing was found in it. */
  isKnownClean(text: string): boolean {
    return this.#values.isKnownClean(text);
  }

  /** The verdicts on a text that leaves besides the body: the value of a header or of the query. */
  evaluateValue(value: HeaderValue, subject: Subject): readonly Verdict[] {
    return this.#values.evaluate(value, subject);
  }

  /** The largest cap on output that no rule objects to, for a request that has none; undefined if there is none. */
  capLimit(inputs: RuleInputs): number | undefined {
    if (this.#capRules.length === 0 || inputs.subject.dialect.operation !== 'chat') return undefined;
    return capLimit(this.#capRules, inputs);
  }

  inputs(subject: Subject, checkpoint?: Checkpoint): RuleInputs {
    return new RuleInputs(subject, this.#patternsOf, checkpoint && { checkpoint });
  }

  /** The verdicts of the policies' own options, beside their rules. */
  #ownVerdicts(inputs: RuleInputs, verdicts: readonly Verdict[]): readonly Verdict[] {
    const { unseen, unreadable } = inputs.searchResult;
    if (unseen.length === 0 && unreadable.length === 0 && !this.#mayDeny) return none;
    const own: Verdict[] = [];
    const opaque = firstUnseen(inputs, 'opaque');
    const references = firstUnseen(inputs, 'reference', 'encrypted');
    for (const { name, options } of this.#policies) {
      const add = (rule: string, reason: string, message: string, matches: readonly Match[]) =>
        own.push({ policy: name, rule, action: 'block', mode: options.mode, reason, message, matches });
      if (options.opaque_content === 'block' && opaque.length > 0) {
        add(
          'opaque_content',
          'content.opaque',
          'the request holds content that the policy cannot look into',
          opaque,
        );
      }
      if (options.unseen_references === 'block' && references.length > 0) {
        const message = 'the request refers to content that the gateway does not see';
        add('unseen_references', 'content.unseen_reference', message, references);
      }
      // A monitored rule decides nothing, unless its whole policy is monitored.
      const isDecided =
        inputs.subject.redactedBy?.includes(name) === true ||
        verdicts.some(
          (verdict) => verdict.policy === name && (verdict.mode === 'enforce' || options.mode === 'monitor'),
        );
      if (options.default === 'deny' && !isDecided) {
        add('default', 'policy.default', 'no rule allows this request', [
          { at: '', matcher: 'default', count: 1 },
        ]);
      }
    }
    return [...own, ...storedConversation(this.rules, inputs.subject.document), ...this.#unreadable(inputs)];
  }

  /** Numbers in place of text that a rule would have to read. */
  #unreadable(inputs: RuleInputs): readonly Verdict[] {
    const { unreadable } = inputs.searchResult;
    if (unreadable.length === 0) return [];
    const found = this.rules
      .filter((rule) => rule.policy !== builtInPolicy && withholds(rule.action))
      .flatMap((rule): readonly Verdict[] => {
        const roles = conditionsOnText(rule).reduce((sum, condition) => sum | condition.roles, 0);
        const first = unreadable.find((each) => (each.roles & roles) !== 0);
        if (first === undefined) return [];
        const { policy, id, mode } = rule;
        const message = 'the input is token numbers instead of text, which a rule on texts cannot read';
        const at = inputs.subject.document.pointer(placeInRequest(first.place).entry);
        const matches = [{ at, matcher: 'text', count: 1 }];
        return [{ policy, rule: id, action: 'block', mode, reason: 'content.unreadable', message, matches }];
      });
    // One of each is enough; a monitored rule must not hide an enforced one.
    return (['enforce', 'monitor'] as const).flatMap(
      (mode) => found.find((verdict) => verdict.mode === mode) ?? [],
    );
  }

  #conclude(inputs: RuleInputs, verdicts: readonly Verdict[], hide: HidePointer): Decision {
    const enforced = verdicts.filter(({ mode }) => mode === 'enforce');
    const monitored = verdicts.filter(({ mode, action: would }) => mode === 'monitor' && withholds(would));
    const wouldBlock = [...new Set(monitored.map(({ rule }) => rule))];
    const base = { verdicts, wouldBlock, ...unseenIn(inputs) };
    // The first in the order of the files gives the reason.
    const blocking = enforced.find((verdict) => refuses(verdict.action));
    if (blocking !== undefined) return { ...base, action: 'block', refusal: toRefusal(blocking) };
    const action = strictest(enforced.flatMap((each) => (refuses(each.action) ? [] : [each.action])));
    if (!replaces(action)) return { ...base, action };
    const rules = this.rules.filter((rule) =>
      enforced.some((each) => replaces(each.action) && each.policy === rule.policy && each.rule === rule.id),
    );
    const result = replaceMatches(rules, inputs, this.#placeholders);
    if (result.kind === 'replaced') {
      const { document, masked } = result;
      return { ...base, action, redacted: document, ...(masked.size === 0 ? {} : { masked }) };
    }
    const { rule, at } = result;
    const message =
      rule.message ?? `rule ${rule.id} found something that must not be sent and cannot be replaced`;
    return {
      ...base,
      action: 'block',
      refusal: { rule: rule.id, reason: 'content.unredactable', message, at: hide(at) },
    };
  }
}

function sizeOf(
  { inputTokens, peakTokens }: RuleInputs,
  { id, sizeBound }: { readonly id: string; readonly sizeBound: number },
): ConversationSize {
  const peak = Math.max(inputTokens, peakTokens);
  return peak > sizeBound ? { id, peakTokens: peak } : { id };
}

const none: readonly Verdict[] = [];
/** The most common decision. */
const allowed: Pass = { action: 'allow', verdicts: none, wouldBlock: [], unseen: 0 };

function nothingFound(inputs: RuleInputs): Pass {
  const unseen = unseenIn(inputs);
  return unseen === nothingUnseen ? allowed : { ...allowed, ...unseen };
}

function unseenIn({ searchResult: { unseen } }: RuleInputs): Pick<Decision, 'unseen' | 'kept'> {
  if (unseen.length === 0) return nothingUnseen;
  for (const { kind, place } of unseen) {
    const kept = kind === 'reference' ? keptName(place) : undefined;
    if (kept !== undefined) return { unseen: unseen.length, kept };
  }
  return { unseen: unseen.length };
}

const nothingUnseen = { unseen: 0 };

/** The place of the first unreadable content of these kinds. */
function firstUnseen({ searchResult, subject }: RuleInputs, ...kinds: UnseenKind[]): readonly Match[] {
  const found = searchResult.unseen.find(({ kind }) => kinds.includes(kind));
  if (found === undefined) return [];
  const at = subject.document.pointer(placeInRequest(found.place).entry);
  return [{ at, matcher: 'content', count: 1 }];
}

const unchecked: readonly Match[] = [{ at: '', matcher: 'check', count: 1 }];

/** What can't be decided is blocked; the cause is for the log. */
function failedDecision(rule: string, cause: unknown, verdicts: readonly Verdict[]): Block {
  return {
    action: 'block',
    // Without their places: whether those may be shown is not known.
    verdicts: verdicts.map((verdict) => ({ ...verdict, matches: [] })),
    refusal: {
      rule,
      reason: 'policy.error',
      message: `rule ${rule} could not be evaluated${cause instanceof CheckFailed ? ` (${cause.message})` : ''}, so the request is refused`,
    },
    wouldBlock: [],
    failure: { rule, cause },
    unseen: 0,
  };
}

function hideInVerdict(verdict: Verdict, hide: HidePointer): Verdict {
  return { ...verdict, matches: verdict.matches.map(hideInMatch(hide)) };
}

function hideInMatch(hide: HidePointer): (match: Match) => Match {
  return (match) => ({ ...match, at: hide(match.at) });
}

function isOnProvider({ action, mode, options: { when, unless } }: CompiledRule): boolean {
  return (
    refuses(action) && mode === 'enforce' && (when?.provider !== undefined || unless?.provider !== undefined)
  );
}
