import type { Piece } from '../walk.ts';
import type { State } from './automaton.ts';
import { type Character, readCharacter } from './code-points.ts';
import type { Machine } from './machine.ts';
import { bytesOf, type Hit, type TextReader, type TextVerdict } from './reader.ts';
import { type TextBytes, type View, views } from './scanner.ts';

/** Characters of a text that are read together with what stood before it. */
export const jointReach = 4096;

const laneLimit = 8;
const pieceLimit = 64;
const edge = 96;
const space = 0x20;

/** What is kept of the texts of one chain. */
interface Chain {
  readonly lanes: Readonly<Record<View, readonly State[]>>;
  readonly verdict: TextVerdict;
  readonly jointNeedles: ReadonlySet<number>;
  readonly pieces: readonly Piece[];
  /** Digits near its end. */
  readonly digits: number;
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
      this.#chains.set(name, first(piece, verdict, text));
      return;
    }
    const found = new Map<number, Hit>();
    const literals = new Set<number>();
    const lanes = { exact: [] as readonly State[], folded: [] as readonly State[] };
    for (const view of views) {
      lanes[view] = this.#goOn(view, before, text, (needle) => {
        if (this.#machine.needles[needle]?.kind === 'detector') literals.add(needle);
        else if (!found.has(needle)) found.set(needle, { needle, view });
      });
      if (lanes[view].length === 0) lanes[view] = [verdict.after[view]];
      else lanes[view] = [...lanes[view], verdict.after[view]];
    }
    for (const hit of this.#detect(before, piece, verdict, literals, text)) found.set(hit.needle, hit);
    for (const { needle } of verdict.hits) found.delete(needle);
    const last = before.pieces[before.pieces.length - 1] as Piece;
    for (const hit of found.values()) report(hit, piece, last);
    this.#chains.set(name, {
      lanes,
      verdict,
      jointNeedles: new Set(found.keys()),
      pieces: [...before.pieces.slice(-pieceLimit + 1), piece],
      digits: digitsNear(text, 'end') + (text.end - text.start < edge ? before.digits : 0),
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

  /** Detectors read characters, not automata: they get the joined edges wherever one of them may find something. */
  #detect(
    before: Chain,
    piece: Piece,
    verdict: TextVerdict,
    literals: ReadonlySet<number>,
    text: TextBytes,
  ): readonly Hit[] {
    const worth = new Set([
      ...before.candidates,
      ...verdict.candidates,
      ...literals,
      ...this.#machine.always,
    ]);
    const head = this.#machine.digits.length === 0 || before.digits === 0 ? 0 : digitsNear(text, 'start');
    for (const { needle, atLeast } of this.#machine.digits) {
      if (head > 0 && head + before.digits >= atLeast) worth.add(needle);
    }
    if (worth.size === 0) return [];
    const start = textOf(piece).slice(0, this.#reach);
    return ['', ' '].flatMap((separator) => {
      const joined = tail(before.pieces, separator, this.#reach) + separator;
      return this.#crossing([...worth], joined, start);
    });
  }

  /** Detectors that find something across a joint: more than in both parts alone. */
  #crossing(candidates: readonly number[], before: string, after: string): readonly Hit[] {
    return this.#reader.detect(candidates, before + after).filter(({ needle: number }) => {
      const needle = this.#machine.needles[number];
      if (needle?.kind !== 'detector') return false;
      const { detector } = needle;
      const count = (text: string) =>
        detector.find(text).length +
        (detector.folded ? detector.find(this.#machine.fold.text(text).text).length : 0);
      const crosses = (text: string, joint: number) =>
        detector.find(text).some(({ start, end }) => start < joint && end > joint);
      if (crosses(before + after, before.length)) return true;
      return count(before + after) > count(before) + count(after);
    });
  }
}

function first(piece: Piece, verdict: TextVerdict, text: TextBytes): Chain {
  return {
    lanes: { exact: [verdict.after.exact], folded: [verdict.after.folded] },
    verdict,
    jointNeedles: new Set(),
    pieces: [piece],
    digits: digitsNear(text, 'end'),
    candidates: verdict.candidates,
  };
}

function textOf({ place }: Piece): string {
  return place.document.isEscaped(place.entry)
    ? place.document.text(place.entry)
    : place.document.raw(place.entry);
}

/** The last characters of a chain, joined. */
function tail(pieces: readonly Piece[], separator: string, length: number): string {
  let joined = '';
  for (let at = pieces.length - 1; at >= 0 && joined.length < length; at -= 1) {
    const text = textOf(pieces[at] as Piece);
    joined = joined === '' ? text : text + separator + joined;
  }
  return joined.slice(-length);
}

/** Digits near an edge of a text; what may be one, written otherwise, counts too. */
function digitsNear({ bytes, start, end }: TextBytes, side: 'start' | 'end'): number {
  const from = side === 'start' ? start : Math.max(start, end - edge);
  const to = side === 'start' ? Math.min(end, start + edge) : end;
  let count = 0;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    if ((byte >= 0x30 && byte <= 0x39) || byte >= 0xc0) count += 1;
  }
  return count;
}

function distinct(states: readonly State[]): readonly State[] {
  return states.length < 2 ? states : [...new Set(states)];
}

const ignore = () => {};
