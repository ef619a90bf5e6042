import { type Piece, textOf } from '../place.ts';
import type { State } from './automaton.ts';
import { type Character, readCharacter } from './code-points.ts';
import type { Machine } from './machine.ts';
import { findSpans } from './needles.ts';
import { bytesOf, type Hit, type TextReader, type TextVerdict } from './reader.ts';
import type { TextBytes, View } from './scanner.ts';

/** Characters of a text that are read together with what stood before it. */
const jointReach = 4096;

const laneLimit = 8;
const mergedLimit = 1000;
const pieceLimit = 64;
/** Bytes from which a text is not waited with. */
const longText = 256;
const space = 0x20;

/** What is kept of the texts of one chain. */
interface Chain {
  /** States in which something is open at its end, per view. */
  exact: readonly State[];
  folded: readonly State[];
  /** Needles that were found already with its last text. */
  told: ReadonlySet<number>;
  readonly pieces: Piece[];
  /** Detectors whose gate its last text opened. */
  candidates: readonly number[];
  /** Detectors that are to look at the texts since the last look. */
  readonly called: Set<number>;
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
  readonly #merged = new Map<string, readonly State[]>();
  readonly #character: Character = { codePoint: 0, length: 0 };

  constructor(machine: Machine, reader: TextReader) {
    this.#machine = machine;
    this.#reader = reader;
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
    for (const { needle } of verdict.hits) joint.hits.delete(needle);
    const last = before.pieces[before.pieces.length - 1] as Piece;
    for (const hit of joint.hits.values()) report(hit, piece, last);
    before.exact = this.#opened('exact', verdict.after.exact, exact);
    before.folded = this.#opened('folded', verdict.after.folded, folded);
    before.told = told(verdict, joint);
    before.pieces.push(piece);
    this.#call(before, verdict, joint);
    const isLong = text.end - text.start >= longText;
    if (isLong || before.pieces.length >= pieceLimit) this.#look(before, report);
  }

  /** Has detectors look at what they have not seen yet; to be called after the last text. */
  finish(report: JointListener): void {
    for (const chain of this.#chains.values()) this.#look(chain, report);
  }

  /** Notes the detectors that are to look at a joint: one of its texts opened their gate, or the joint did. */
  #call(chain: Chain, verdict: TextVerdict, joint: Found): void {
    for (const number of chain.candidates) chain.called.add(number);
    for (const number of verdict.candidates) chain.called.add(number);
    for (const number of joint.called) chain.called.add(number);
    for (const number of this.#machine.always) chain.called.add(number);
    chain.candidates = verdict.candidates;
  }

  /**
   * Detectors read characters, not automata, so they get the joined texts; many short ones at once, because a
   * body may have a text for each letter.
   */
  #look(chain: Chain, report: JointListener): void {
    const { pieces, called } = chain;
    const last = pieces[pieces.length - 1] as Piece;
    for (const number of pieces.length > 1 ? called : []) {
      const needle = this.#machine.needles[number];
      if (needle?.kind !== 'detector') continue;
      for (const separator of ['', ' ']) {
        const joined = join(pieces, separator, Math.min(needle.detector.reach, jointReach));
        const hit = this.#crossing(number, joined);
        if (hit !== undefined) {
          report(hit, last, pieces[pieces.length - 2] as Piece);
          break;
        }
      }
    }
    called.clear();
    // A long text parts what is before it from what follows; short ones stay, for a match may go on.
    const { document, entry } = last.place;
    if (document.end(entry) - document.start(entry) >= longText) {
      pieces.length = 0;
      pieces.push(last);
    } else pieces.splice(0, pieces.length - pieceLimit / 2);
  }

  #first(piece: Piece, verdict: TextVerdict): Chain {
    return {
      exact: this.#opened('exact', verdict.after.exact, noLanes),
      folded: this.#opened('folded', verdict.after.folded, noLanes),
      told: told(verdict, undefined),
      pieces: [piece],
      candidates: verdict.candidates,
      called: new Set(),
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
  #fewer(view: View, many: readonly State[]): readonly State[] {
    if (many.length <= laneLimit) return many;
    const automaton = this.#machine.scanner[view];
    const lanes = many.map((lane) => automaton.live(lane));
    const key = `${view} ${automaton.epoch} ${lanes.map(({ offset }) => offset).join()}`;
    const known = this.#merged.get(key);
    if (known !== undefined) return known;
    const byContext = new Map<number, State[]>();
    for (const lane of lanes) {
      const same = byContext.get(lane.context);
      if (same === undefined) byContext.set(lane.context, [lane]);
      else same.push(lane);
    }
    const merged = [...byContext].map(([context, states]) => automaton.merge(states, context));
    if (this.#merged.size < mergedLimit) this.#merged.set(key, merged);
    return merged;
  }

  /** What a detector finds in joined texts that goes over a joint. */
  #crossing(number: number, { text, joints }: Joined): Hit | undefined {
    const [hit] = this.#reader.detect([number], text);
    const needle = this.#machine.needles[number];
    if (hit === undefined || needle?.kind !== 'detector') return undefined;
    const spans = findSpans(needle, text, this.#machine.fold);
    const crosses = spans.some(({ start, end }) => joints.some((joint) => start < joint && end > joint));
    return crosses ? hit : undefined;
  }
}

function told(verdict: TextVerdict, joint: Found | undefined): ReadonlySet<number> {
  if (verdict.hits.length + verdict.candidates.length === 0 && (joint?.hits.size ?? 0) === 0)
    return nothingTold;
  return new Set([...verdict.hits.map(({ needle }) => needle), ...(joint?.hits.keys() ?? [])]);
}

interface Joined {
  readonly text: string;
  /** Where its parts meet. */
  readonly joints: readonly number[];
}

/** Texts joined; of the first and the last no more than the reach. */
function join(pieces: readonly Piece[], separator: string, reach: number): Joined {
  let text = '';
  const joints: number[] = [];
  pieces.forEach((piece, at) => {
    const own = textOf(piece.place);
    if (at > 0) {
      joints.push(text.length);
      text += separator;
    }
    if (at === 0) text += own.slice(-reach);
    else text += at === pieces.length - 1 ? own.slice(0, reach) : own;
  });
  return { text, joints };
}

function isAmong(lanes: readonly State[], count: number, state: State): boolean {
  for (let at = 0; at < count; at += 1) if (lanes[at] === state) return true;
  return false;
}

const ignore = () => {};
const noLanes: readonly State[] = [];
const nothingTold: ReadonlySet<number> = new Set();
