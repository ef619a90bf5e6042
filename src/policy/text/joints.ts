import { type Piece, textOf } from '../walk.ts';
import type { State } from './automaton.ts';
import { type Character, readCharacter } from './code-points.ts';
import type { Machine } from './machine.ts';
import { bytesOf, type Hit, type TextReader, type TextVerdict } from './reader.ts';
import { type TextBytes, type View, views } from './scanner.ts';

/** Characters of a text that are read together with what stood before it. */
export const jointReach = 4096;

const laneLimit = 8;
const pieceLimit = 64;
const space = 0x20;

/** What is kept of the texts of one chain. */
interface Chain {
  readonly lanes: Readonly<Record<View, readonly State[]>>;
  readonly verdict: TextVerdict;
  readonly jointNeedles: ReadonlySet<number>;
  readonly pieces: readonly Piece[];
  readonly candidates: readonly number[];
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
    const { document, entry } = piece.place;
    const text = bytesOf(document, entry);
    const before = this.#chains.get(name);
    if (before === undefined) {
      this.#chains.set(name, first(piece, verdict));
      return;
    }
    const found = new Map<number, Hit>();
    const called = new Set<number>();
    const lanes = { exact: [] as readonly State[], folded: [] as readonly State[] };
    for (const view of views) {
      lanes[view] = this.#goOn(view, before, text, (needle) => {
        if (this.#machine.needles[needle]?.kind === 'detector') called.add(needle);
        else if (!found.has(needle)) found.set(needle, { needle, view });
      });
      if (lanes[view].length === 0) lanes[view] = [verdict.after[view]];
      else lanes[view] = [...lanes[view], verdict.after[view]];
    }
    for (const hit of this.#detect(before, piece, verdict, called)) found.set(hit.needle, hit);
    for (const { needle } of verdict.hits) found.delete(needle);
    const last = before.pieces[before.pieces.length - 1] as Piece;
    for (const hit of found.values()) report(hit, piece, last);
    this.#chains.set(name, {
      lanes,
      verdict,
      jointNeedles: new Set(found.keys()),
      pieces: [...before.pieces.slice(-pieceLimit + 1), piece],
      candidates: this.#recent(before, verdict, text),
    });
  }

  /** Runs what was open before through the beginning of a text; returns what is still open at its end. */
  #goOn(view: View, before: Chain, text: TextBytes, onNeedle: (needle: number) => void): readonly State[] {
    const { scanner } = this.#machine;
    const told = new Set([...before.verdict.hits.map((hit) => hit.needle), ...before.jointNeedles]);
    let isFirst = true;
    const note = (state: State) => {
      for (const needle of state.needles) if (!isFirst || !told.has(needle)) onNeedle(needle);
    };
    const opened = before.lanes[view];
    let lanes = distinct([...opened, ...opened.map((state) => scanner.step(view, state, space, note))]);
    lanes = this.#fewer(view, lanes);
    let alone = scanner.start[view];
    let read = 0;
    let at = text.start;
    while (at < text.end && lanes.length > 0 && read < jointReach) {
      readCharacter(text.bytes, at, text.isEscaped, this.#character);
      const { codePoint, length } = this.#character;
      alone = scanner.step(view, alone, codePoint, ignore);
      const stepped = lanes.map((state) => scanner.step(view, state, codePoint, note));
      lanes = distinct(stepped).filter((state) => state !== alone);
      isFirst = false;
      at += length;
      read += 1;
    }
    if (at < text.end) return [];
    for (const lane of lanes) for (const needle of scanner[view].end(lane)) onNeedle(needle);
    return lanes;
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
  #detect(before: Chain, piece: Piece, verdict: TextVerdict, called: ReadonlySet<number>): readonly Hit[] {
    const { needles, always } = this.#machine;
    const worth = new Set([...before.candidates, ...verdict.candidates, ...called, ...always]);
    if (worth.size === 0) return [];
    const found: Hit[] = [];
    for (const number of worth) {
      const needle = needles[number];
      if (needle?.kind !== 'detector') continue;
      const reach = Math.min(needle.detector.reach, jointReach);
      const head = textOf(piece.place).slice(0, reach);
      for (const separator of ['', ' ']) {
        const last = tail(before.pieces, separator, reach) + separator;
        found.push(...this.#crossing(number, last, head));
      }
    }
    return found;
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

function first(piece: Piece, verdict: TextVerdict): Chain {
  return {
    lanes: { exact: [verdict.after.exact], folded: [verdict.after.folded] },
    verdict,
    jointNeedles: new Set(),
    pieces: [piece],
    candidates: verdict.candidates,
  };
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

function distinct(states: readonly State[]): readonly State[] {
  return states.length < 2 ? states : [...new Set(states)];
}

const ignore = () => {};
