import { isUtf8 } from 'node:buffer';
import type { Subject, Verdict } from './rule.ts';
import type { RuleInputs } from './rule-inputs.ts';
import type { CompiledRule } from './rules/compile-rule.ts';
import { evaluateRule } from './rules/evaluate.ts';
import { isBase64, isPlainText, percentDecode } from './traverse/encoded.ts';
import { wrapText } from './traverse/place.ts';

/** A text that leaves besides the body, and its name for answers and records, such as `header:user-agent`. */
export interface HeaderValue {
  readonly at: string;
  readonly text: string;
}

// Most values are the same in every request of a client. Clients choose them, so what is memoized is bounded.
const cleanLimit = 2_000;
const maxCleanLength = 256;

/**
 * Evaluates the text rules on texts that leave besides the body; such a text has every role. A value in which no rule
 * finds anything is memoized: it can't make any rule apply, in any request.
 */
export class HeaderValues {
  readonly #rules: readonly CompiledRule[];
  readonly #inputsOf: (subject: Subject) => RuleInputs;
  readonly #clean = new Set<string>();

  constructor(rules: readonly CompiledRule[], inputsOf: (subject: Subject) => RuleInputs) {
    this.#rules = rules.filter(({ when = [] }) => when.some(({ text }) => text !== undefined));
    this.#inputsOf = inputsOf;
  }

  /** Whether a text is memoized as one in which no rule finds anything. */
  isKnownClean(text: string): boolean {
    return this.#clean.has(text);
  }

  /** A rule's other conditions refer to the request. */
  evaluate({ at, text }: HeaderValue, subject: Subject): readonly Verdict[] {
    const found = readings(text)
      .map((reading) => this.#inputsOf({ ...subject, document: wrapText(reading), isValue: true }))
      .filter(({ searchResult }) => searchResult.matches.size > 0);
    if (found.length === 0) {
      if (text.length <= maxCleanLength) this.#noteClean(text);
      return none;
    }
    const inputs = this.#inputsOf(subject);
    return this.#rules.flatMap((rule) => {
      const [verdict] = found.flatMap((texts) => verdictOf(rule, inputs, texts) ?? []);
      if (verdict === undefined) return [];
      const count = verdict.matches.reduce((sum, match) => sum + match.count, 0);
      return [{ ...verdict, matches: [{ at, matcher: 'text', count }] }];
    });
  }

  #noteClean(text: string): void {
    if (this.#clean.size >= cleanLimit) this.#clean.clear();
    this.#clean.add(text);
  }
}

const none: readonly Verdict[] = [];

/** The shortest key is twelve characters long; shorter values can't be one in base64. */
const minBase64Length = 16;
/** How often a value may have been percent-encoded. */
const maxEncodings = 3;

/** A value as it is, with its percent-encoding undone, and the text that it is in base64. */
function readings(text: string): readonly string[] {
  const plain = [text];
  for (let last = text; last.includes('%') && plain.length <= maxEncodings; ) {
    const decoded = percentDecode(last).toString();
    if (decoded === last) break;
    plain.push(decoded);
    last = decoded;
  }
  return plain.flatMap((each) => [each, ...base64Text(each)]);
}

/** Random bytes, as ids have them, are hardly ever UTF-8. */
function base64Text(value: string): readonly string[] {
  if (value.length < minBase64Length || !isBase64(value)) return [];
  const bytes = Buffer.from(value, 'base64');
  return isUtf8(bytes) && isPlainText(bytes) ? [bytes.toString()] : [];
}

function verdictOf(rule: CompiledRule, inputs: RuleInputs, texts: RuleInputs): Verdict | undefined {
  try {
    return evaluateRule(rule, inputs, texts);
  } catch (cause) {
    // As for a body: what can't be evaluated is refused.
    const { policy, id } = rule;
    const message = `rule ${id} could not be evaluated, so the request is refused`;
    return {
      policy,
      rule: id,
      action: 'block',
      mode: 'enforce',
      reason: 'policy.error',
      message,
      matches: [],
      failure: { rule: id, cause },
    };
  }
}
