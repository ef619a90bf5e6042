import { hash } from 'node:crypto';
import type { Range } from '../detectors/detector.ts';

/** A program that says what is in a text; plain data, and the same for the same settings. */
export interface CheckService {
  readonly url: string;
  readonly api: 'gateway' | 'presidio';
  /** What Presidio is told that texts are in. */
  readonly language: string;
  /** For one whole call. */
  readonly timeoutMs: number;
  /** How many texts, and findings in them, are remembered. */
  readonly cache: number;
}

/** A part of a text that a service found, in UTF-16 units. */
export interface CheckFinding extends Range {
  /** In the service's own words. */
  readonly kind: string;
  /** From 0 to 1. */
  readonly score: number;
}

/** What a service said of a text, or why it is not known. */
export type CheckResult = readonly CheckFinding[] | { readonly failure: string };

/** What is known of a body's texts, by service and text; plain data, for another thread. */
export type CheckResults = Map<string, CheckResult>;

/** A text that a service is to be asked about. */
export interface UnaskedText {
  /** What its answer is known by. */
  readonly id: string;
  readonly text: string;
  /** Where it was met first, as a JSON pointer. */
  readonly at: string;
}

/** What a service is to be asked; plain data. */
export interface Unasked {
  readonly service: CheckService;
  readonly texts: readonly UnaskedText[];
}

/** In place of a decision: it depends on texts that have not been asked about. */
export class Unchecked {
  readonly unasked: readonly Unasked[];
  /** What was known, and is to be known still when it is decided again. */
  readonly results: CheckResults;

  constructor(unasked: readonly Unasked[], results: CheckResults) {
    this.unasked = unasked;
    this.results = results;
  }
}

/** Why a text's rule can't be evaluated. Its message has no part of any text. */
export class CheckFailed extends Error {}

interface Deciding {
  readonly results: CheckResults;
  readonly unasked: Map<CheckService, Map<string, UnaskedText>>;
}

/**
 * What services have said of texts. Decisions are synchronous, and may be made in any thread: they look texts up here.
 * Where one is not known, the decision is made once more when its service has been asked, about all such texts at once.
 */
export class CheckBook {
  readonly #services = new Map<string, CheckService>();
  /** Of each service; in the same order in every thread, as rules are compiled in the same order. */
  readonly #recent = new Map<CheckService, RecentResults>();
  #deciding: Deciding | undefined;
  #forbidden: string | undefined;

  /** The same object for the same settings. */
  service(settings: CheckService): CheckService {
    const key = JSON.stringify(settings);
    const known = this.#services.get(key);
    if (known !== undefined) return known;
    this.#services.set(key, settings);
    this.#recent.set(settings, new RecentResults(this.#recent.size, settings.cache));
    return settings;
  }

  /** From now on no service is asked, and each rule that would ask one fails for this reason. */
  forbid(reason: string): void {
    this.#forbidden = reason;
  }

  get services(): readonly CheckService[] {
    return [...this.#services.values()];
  }

  /** Remembers what another thread has learned for the body that is decided on here. */
  learn(results: CheckResults): void {
    const memories = [...this.#recent.values()];
    const kept: KeptSizes = new Map();
    for (const [id, result] of results) memories[Number.parseInt(id, 10)]?.keep(id, result, kept);
  }

  /** Decides with what is remembered, and with `results`; what it looks up here is added to those. */
  decide<Decided>(results: CheckResults, decide: () => Decided): Decided | Unchecked {
    const deciding: Deciding = { results, unasked: new Map() };
    this.#deciding = deciding;
    try {
      const decided = decide();
      if (deciding.unasked.size === 0) return decided;
    } finally {
      this.#deciding = undefined;
    }
    const unasked = [...deciding.unasked].map(([service, texts]) => ({
      service,
      texts: [...texts.values()],
    }));
    return new Unchecked(unasked, results);
  }

  /**
   * What a service says of a text; nothing yet where it has to be asked, which ends the decision. Throws `CheckFailed` if
   * it was asked in vain.
   */
  find(service: CheckService, text: string, at: () => string): readonly CheckFinding[] {
    if (this.#forbidden !== undefined) throw new CheckFailed(this.#forbidden);
    if (this.#deciding === undefined) throw new CheckFailed('its texts are not checked here');
    const { results, unasked } = this.#deciding;
    const recent = this.#recentOf(service);
    const id = `${recent.number} ${hash('sha256', text, 'base64url')}`;
    const learned = results.get(id);
    const known = learned ?? recent.get(id);
    if (known === undefined) {
      let texts = unasked.get(service);
      if (texts === undefined) {
        texts = new Map();
        unasked.set(service, texts);
      }
      if (!texts.has(id)) texts.set(id, { id, text, at: at() });
      return none;
    }
    if (learned === undefined) results.set(id, known);
    if ('failure' in known) throw new CheckFailed(known.failure);
    return known;
  }

  /** What is remembered of a text that was not known elsewhere: another thread remembers others. */
  recall({ service, id }: { readonly service: CheckService; readonly id: string }): CheckResult | undefined {
    return this.#recentOf(this.service(service)).get(id);
  }

  /**
   * Remembers what a service has said; not why it has said nothing, nor more than a body's share, of which `kept` keeps
   * account. The service may be a copy of its settings.
   */
  keep(
    settings: CheckService,
    results: Iterable<readonly [id: string, result: CheckResult]>,
    kept: KeptSizes,
  ): void {
    const recent = this.#recentOf(this.service(settings));
    for (const [id, result] of results) recent.keep(id, result, kept);
  }

  #recentOf(service: CheckService): RecentResults {
    return this.#recent.get(service) as RecentResults; // it was made with the service
  }
}

const none: readonly CheckFinding[] = [];

/** How much of each service's memory, by its number, has been filled for one body: texts and findings. */
export type KeptSizes = Map<number, number>;

/** How much of it the texts of one body may fill, so that not all others have to be asked about again. */
const share = 1 / 4;

/** Those that were asked for last. */
class RecentResults {
  readonly number: number;
  readonly #limit: number;
  readonly #results = new Map<string, readonly CheckFinding[]>();
  #size = 0;

  constructor(number: number, limit: number) {
    this.number = number;
    this.#limit = limit;
  }

  get(id: string): readonly CheckFinding[] | undefined {
    const known = this.#results.get(id);
    if (known === undefined) return undefined;
    this.#results.delete(id);
    this.#results.set(id, known);
    return known;
  }

  keep(id: string, findings: CheckResult, kept: KeptSizes): void {
    if ('failure' in findings || this.#results.has(id)) return;
    const size = 1 + findings.length;
    const keptSize = (kept.get(this.number) ?? 0) + size;
    if (keptSize > Math.ceil(this.#limit * share)) return;
    kept.set(this.number, keptSize);
    this.#results.set(id, findings.length === 0 ? none : findings);
    this.#size += size;
    for (const oldest of this.#results.keys()) {
      if (this.#size <= this.#limit) return;
      this.#remove(oldest);
    }
  }

  #remove(id: string): void {
    const known = this.#results.get(id);
    if (known === undefined) return;
    this.#results.delete(id);
    this.#size -= 1 + known.length;
  }
}
