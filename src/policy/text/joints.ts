import { type Piece, textOf } from '../walk.ts';
import type { State } from './automaton.ts';
import { type Character, readCharacter } from './code-points.ts';
import type { Machine } from './machine.ts';
import { bytesOf, type Hit, type TextReader, type TextVerdict } from './reader.ts';
import type { TextBytes, View } from './scanner.ts';

/** Characters of a text that are read together with what stood before it. */
export const jointReach = 4096;

const laneLimit = 8;
const pieceLimit = 64;
const space = 0x20;

/** What is kept of the texts of one chain. */
interface Chain {
  /** States in which something is open at its end, per view. */
  exact: readonly State[];
  folded: readonly State[];
  /** Needles that were found already with its last text. */
  told: ReadonlySet<number>;
  readonly pieces: Piece[];
  candidates: readonly number[];
}

/** What one joint brought. */
interface Found {
  readonly hits: Map<number, Hit>;
  /** Detectors that are worth a look. */
  readonly called: Set<number>;
}

/** Reports needles that begin in one text of a chain and end in a later one. */
export type JointListener = (hit: Hit, piece: Piece, before: Piece) => void;

/**
 * Reads the texts of a chain as if they were joined, with nothing or with a space at each joint. The
 * automata just go on from where they stood; that ends as soon as they stand where the text alone brought
 * them, which is mostly within a few characters.
 */
export class Joints {
  readonly #machine: Machine;
  readonly #reader: TextReader;
  readonly #chains = new Map<string, Chain>();
  readonly #character: Character = { codePoint: 0, length: 0 };
  readonly #reach: number;

  constructor(machine: Machine, reader: TextReader) {
    this.#machine = machine;
    this.#reader = reader;
    const reaches = machine.needles.map((each) => (each.kind === 'detector' ? each.detector.reach : 0));
    this.#reach = Math.min(jointReach, Math.max(0, ...reaches));
  }

  /** Adds a text that isn't empty to its chain. */
  add(piece: Piece, verdict: TextVerdict, report: JointListener): void {
    const name = piece.chain;
    if (name === undefined) return;
    const before = this.#chains.get(name);
    if (before === undefined) {
      this.#chains.set(name, this.#first(piece, verdict));
      return;
    }
    const { document, entry } = piece.place;
    const text = bytesOf(document, entry);
    const joint: Found = { hits: new Map(), called: new Set() };
    const exact = this.#goOn('exact', before, text, joint);
    const folded = this.#goOn('folded', before, text, joint);
    this.#detect(before, piece, verdict, joint);
    for (const { needle } of verdict.hits) joint.hits.delete(needle);
    const last = before.pieces[before.pieces.length - 1] as Piece;
    for (const hit of joint.hits.values()) report(hit, piece, last);
    before.exact = this.#opened('exact', verdict.after.exact, exact);
    before.folded = this.#opened('folded', verdict.after.folded, folded);
    before.told = told(verdict, joint);
    before.candidates = this.#recent(before, verdict, text);
    if (before.pieces.length === pieceLimit) before.pieces.shift();
    before.pieces.push(piece);
  }

  #first(piece: Piece, verdict: TextVerdict): Chain {
    return {
      exact: this.#opened('exact', verdict.after.exact, noLanes),
      folded: this.#opened('folded', verdict.after.folded, noLanes),
      told: told(verdict, undefined),
      pieces: [piece],
      candidates: verdict.candidates,
    };
  }

  /** The states in which something is open at the end of a text. */
  #opened(view: View, alone: State, lanes: readonly State[]): readonly State[] {
    const isOpen = this.#machine.scanner[view].isOpen(alone);
    if (!isOpen) return lanes;
    return lanes.length === 0 ? [alone] : this.#fewer(view, [...lanes, alone]);
  }

  /** Runs what was open before through the beginning of a text; returns what is still open at its end. */
  #goOn(view: View, before: Chain, text: TextBytes, joint: Found): readonly State[] {
    const opened = before[view];
    if (opened.length === 0) return noLanes;
    const { scanner } = this.#machine;
    const lanes = [...opened];
    // What ended with the text before shows only now, and is no news.
    for (const state of opened) {
      const spaced = scanner.step(view, state, space, (next) => this.#note(view, next, joint, before.told));
      if (!lanes.includes(spaced)) lanes.push(spaced);
    }
    let alone = scanner.start[view];
    let known: ReadonlySet<number> = before.told;
    const note = (state: State) => this.#note(view, state, joint, known);
    let at = text.start;
    for (let read = 0; at < text.end && lanes.length > 0 && read < jointReach; read += 1) {
      readCharacter(text.bytes, at, text.isEscaped, this.#character);
      const { codePoint, length } = this.#character;
      at += length;
      alone = scanner.step(view, alone, codePoint, ignore);
      let kept = 0;
      for (const lane of lanes) {
        const next = scanner.step(view, lane, codePoint, note);
        if (next !== alone && !isAmong(lanes, kept, next)) lanes[kept++] = next;
      }
      lanes.length = kept;
      known = nothingTold;
    }
    if (at < text.end) return noLanes;
    for (const lane of lanes) this.#noteAll(view, scanner[view].end(lane), joint, nothingTold);
    return lanes;
  }

  #note(view: View, state: State, joint: Found, known: ReadonlySet<number>): void {
    if (state.needles.length > 0) this.#noteAll(view, state.needles, joint, known);
  }

  #noteAll(view: View, needles: readonly number[], joint: Found, known: ReadonlySet<number>): void {
    for (const needle of needles) {
      if (known.has(needle)) continue;
      if (this.#machine.needles[needle]?.kind === 'detector') joint.called.add(needle);
      else if (!joint.hits.has(needle)) joint.hits.set(needle, { needle, view });
    }
  }

  /** Many open places become one that is open to all of them, per what stood before. */
  #fewer(view: View, lanes: readonly State[]): readonly State[] {
    if (lanes.length <= laneLimit) return lanes;
    const byContext = new Map<number, State[]>();
    for (const lane of lanes) {
      const same = byContext.get(lane.context);
      if (same === undefined) byContext.set(lane.context, [lane]);
      else same.push(lane);
    }
    return [...byContext].map(([context, states]) => this.#machine.scanner[view].merge(states, context));
  }

  #recent(before: Chain, verdict: TextVerdict, text: TextBytes): readonly number[] {
    if (text.end - text.start >= this.#reach) return verdict.candidates;
    if (before.candidates.length === 0) return verdict.candidates;
    return [...new Set([...before.candidates, ...verdict.candidates])];
  }

  /**
   * Detectors read characters, not automata: where the joined automaton or one of the texts called one, it
   * gets the joined edges.
   */
  #detect(before: Chain, piece: Piece, verdict: TextVerdict, joint: Found): void {
    const { needles, always } = this.#machine;
    if (before.candidates.length + verdict.candidates.length + joint.called.size + always.length === 0)
      return;
    for (const number of new Set([...before.candidates, ...verdict.candidates, ...joint.called, ...always])) {
      const needle = needles[number];
      if (needle?.kind !== 'detector') continue;
      const reach = Math.min(needle.detector.reach, jointReach);
      const head = textOf(piece.place).slice(0, reach);
      for (const separator of ['', ' ']) {
        const last = tail(before.pieces, separator, reach) + separator;
        for (const hit of this.#crossing(number, last, head)) joint.hits.set(hit.needle, hit);
      }
    }
  }

  /** What a detector finds in two texts joined, but in neither alone. */
  #crossing(number: number, before: string, after: string): readonly Hit[] {
    const [hit] = this.#reader.detect([number], before + after);
    const needle = this.#machine.needles[number];
    if (hit === undefined || needle?.kind !== 'detector') return [];
    const { detector } = needle;
    const read =
      hit.view === 'exact' ? (text: string) => text : (text: string) => this.#machine.fold.plain(text);
    const joint = read(before).length;
    const crosses = detector
      .find(read(before + after))
      .some(({ start, end }) => start < joint && end > joint);
    return crosses ? [hit] : [];
  }
}

function told(verdict: TextVerdict, joint: Found | undefined): ReadonlySet<number> {
  if (verdict.hits.length + verdict.candidates.length === 0 && (joint?.hits.size ?? 0) === 0)
    return nothingTold;
  return new Set([...verdict.hits.map(({ needle }) => needle), ...(joint?.hits.keys() ?? [])]);
}

/** The last characters of a chain, joined. */
function tail(pieces: readonly Piece[], separator: string, length: number): string {
  let joined = '';
  for (let at = pieces.length - 1; at >= 0 && joined.length < length; at -= 1) {
    const text = textOf((pieces[at] as Piece).place);
    joined = joined === '' ? text : text + separator + joined;
  }
  return joined.slice(-length);
}

function isAmong(lanes: readonly State[], count: number, state: State): boolean {
  for (let at = 0; at < count; at += 1) if (lanes[at] === state) return true;
  return false;
}

const ignore = () => {};
const noLanes: readonly State[] = [];
const nothingTold: ReadonlySet<number> = new Set();
