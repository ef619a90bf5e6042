import type { Subject } from './rule.ts';
import type { Findings, Occurrence } from './search/findings.ts';
import type { Fold } from './search/fold.ts';
import type { Needle } from './search/patterns.ts';
import type { Search } from './search/search.ts';
import { type Cap, findCaps } from './traverse/caps.ts';
import { otherModels } from './traverse/models.ts';
import { findTools, type OfferedTool } from './traverse/offered-tools.ts';

/** What rules ask about one request; found out when first asked, once for all rules. */
export class Facts {
  readonly subject: Subject;
  readonly #search: Search;
  readonly #numbers: ReadonlyMap<string, number>;
  #findings: Findings | undefined;
  #tools: readonly OfferedTool[] | undefined;
  #caps: readonly Cap[] | undefined;

  constructor(subject: Subject, search: Search, numbers: ReadonlyMap<string, number>) {
    this.subject = subject;
    this.#search = search;
    this.#numbers = numbers;
  }

  /** Every name under which the model may be served: as asked for, at each provider, and in lists of substitutes. */
  get models(): readonly string[] {
    const { document, model, targetModels } = this.subject;
    return [model, ...targetModels, ...otherModels(document)];
  }

  get tools(): readonly OfferedTool[] {
    this.#tools ??= findTools(this.subject.document);
    return this.#tools;
  }

  get caps(): readonly Cap[] {
    this.#caps ??= findCaps(this.subject.document, this.subject.dialect);
    return this.#caps;
  }

  get findings(): Findings {
    this.#findings ??= this.#search.request(this.subject.document, this.subject.dialect);
    return this.#findings;
  }

  get fold(): Fold {
    return this.#search.machine.fold;
  }

  needle(number: number): Needle {
    return this.#search.machine.needles[number] as Needle;
  }

  occurrences(needleKey: string): readonly Occurrence[] {
    const number = this.#numbers.get(needleKey);
    return number === undefined ? [] : (this.findings.occurrences.get(number) ?? []);
  }
}
