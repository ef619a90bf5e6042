import type { Dialect } from '../../dialects/dialect.ts';
import type { JsonDocument } from '../../json/json-document.ts';
import { createWalk, type Walk } from '../traverse/walk.ts';
import { type Findings, Gatherer } from './findings.ts';
import { KnownWalks } from './known-walks.ts';
import type { Machine } from './machine.ts';
import { TextReader } from './reader.ts';
import type { VerdictCache } from './verdict-cache.ts';

/** Looks for all needles of a machine in whole documents. */
export class Search {
  readonly machine: Machine;
  readonly #reader: TextReader;
  readonly #walk: Walk;
  readonly #known = new KnownWalks();

  constructor(machine: Machine, cache: VerdictCache) {
    this.machine = machine;
    this.#reader = new TextReader(machine, cache);
    this.#walk = createWalk();
  }

  /** What is in a request; what is known of a kept document, or of one that begins like it, is not looked for again. */
  request(document: JsonDocument, dialect: Dialect): Findings {
    const known = this.#known.recall(document, dialect);
    if (known !== undefined) return known;
    const gatherer = new Gatherer(this.machine, this.#reader, document.isKept);
    const turn = this.#known.resume(document, dialect, gatherer);
    if (turn === undefined) this.#walk.request(document, dialect, gatherer);
    else this.#walk.resume(document, dialect, { turn, visitor: gatherer });
    const findings = gatherer.finish();
    this.#known.remember(document, dialect, {
      findings,
      found: gatherer.found,
      checkpoints: gatherer.checkpoints,
    });
    return findings;
  }

  /** A document without roles: an answer, or anything else. */
  document(document: JsonDocument, roles: number): Findings {
    const gatherer = new Gatherer(this.machine, this.#reader, false);
    this.#walk.document(document, roles, gatherer);
    return gatherer.finish();
  }
}
