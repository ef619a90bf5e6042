import { type Piece, type Place, textOf } from '../traverse/place.ts';
import { type Character, readCharacter } from './code-points.ts';
import type { State } from './dfa-state.ts';
import { type Joined, join } from './joined.ts';
import { partitionPoint } from './partition-point.ts';
import type { PatternSet } from './pattern-set.ts';
import { findRanges, type Pattern } from './patterns.ts';
import type { TextBytes, View } from './scanner.ts';
import { Lanes } from './segment-states.ts';
import { bytesOf, type PatternMatch, type TextReader, type TextVerdict } from './text-reader.ts';

/** Characters of a text that are read together with what stood before it. */
const jointReach = 4096;

/** Texts that detectors get joined, and how many of them they get again with the next ones. */
const pieceLimit = 256;
const piecesKept = 64;
/** Chains up to which it is worth keeping what is open. */
const savedLimit = 64;
/** Bytes from which a text is not waited with. */
const longText = 256;

/** What is kept of the texts of one chain. */
interface Chain {
  /** States in which something is open at its end, per view; one for each kind of character before. */
  exact: readonly State[];
  folded: readonly State[];
  /** Patterns that were found already with its last text. */
  told: ReadonlySet<number>;
  readonly pieces: Piece[];
  /** Detectors whose gate its last text opened. */
  candidates: readonly number[];
  /** Detectors that are to look at the texts since the last look. */
  readonly called: Set<number>;
}

/** A chain as it stood at some place of a body, without the body: its pieces by their entries. */
interface SavedChain extends Omit<Chain, 'pieces' | 'called'> {
  readonly pieces: readonly { readonly entry: number; readonly roles: number }[];
  readonly called: readonly number[];
}
export type SavedChains = ReadonlyMap<string, SavedChain>;

/** Reports patterns that begin in one text of a chain and end in a later one. */
export type JointListener = (patternMatch: PatternMatch, piece: Piece, before: Piece) => void;

/**
 * Reads the texts of a chain as if they were joined, with nothing or with a space at each joint. The
 * automata just go on from where they stood; that ends as soon as they stand where the text alone brought
 * them, which is mostly within a few characters.
 */
export class Joints {
  readonly #patternSet: PatternSet;
  readonly #reader: TextReader;
  readonly #chains = new Map<string, Chain>();
  readonly #lanes: Readonly<Record<View, Lanes>>;
  readonly #character: Character = { codePoint: 0, length: 0 };
  /** Patterns over the joint that is read; mostly there are none. */
  readonly #patternMatches = new Map<number, PatternMatch>();
  /** Detectors that are to look at the chain that is read. */
  #called: Set<number> = new Set();
  /** Patterns that are no news at the joint. */
  #known: ReadonlySet<number> = nothingTold;

  constructor(patternSet: PatternSet, reader: TextReader) {
    this.#patternSet = patternSet;
    this.#reader = reader;
    const { exact, folded } = patternSet.scanner;
    this.#lanes = {
      exact: new Lanes(exact, (patterns) => this.#note('exact', patterns)),
      folded: new Lanes(folded, (patterns) => this.#note('folded', patterns)),
    };
  }

  /** Adds a text that isn't empty to its chain. */
  add(piece: Piece, verdict: TextVerdict, report: JointListener): void {
    const name = piece.chain;
    if (name === undefined) return;
    if (this.#patternMatches.size > 0) this.#patternMatches.clear();
    const before = this.#chains.get(name);
    if (before === undefined) {
      this.#chains.set(name, this.#first(piece, verdict));
      return;
    }
    const { document, entry } = piece.place;
    const text = bytesOf(document, entry);
    this.#called = before.called;
    const exact = this.#goOn('exact', before, text, verdict);
    const folded = this.#goOn('folded', before, text, verdict);
    const patternMatches = this.#patternMatches;
    if (patternMatches.size > 0) {
      for (const { pattern } of verdict.patternMatches) patternMatches.delete(pattern);
      const last = before.pieces[before.pieces.length - 1] as Piece;
      for (const patternMatch of patternMatches.values()) report(patternMatch, piece, last);
    }
    before.exact = exact;
    before.folded = folded;
    before.told = told(verdict, patternMatches);
    before.pieces.push(piece);
    this.#call(before, verdict);
    const isLong = text.end - text.start >= longText;
    if (isLong || before.pieces.length >= pieceLimit) this.#look(before, report);
  }

  /** Has detectors look at what they have not seen yet; to be called after the last text. */
  finish(report: JointListener): void {
    for (const chain of this.#chains.values()) this.#look(chain, report);
  }

  /** What is open now; undefined where that is more than is worth keeping. */
  save(): SavedChains | undefined {
    if (this.#chains.size > savedLimit) return undefined;
    const saved = new Map<string, SavedChain>();
    for (const [name, { exact, folded, told, pieces, candidates, called }] of this.#chains) {
      const kept = pieces.map(({ place, roles }) => ({ entry: place.entry, roles }));
      saved.set(name, { exact, folded, told, pieces: kept, candidates, called: [...called] });
    }
    return saved;
  }

  /** Goes on from what was open in another body, given where its entries are in this one. */
  restore(saved: SavedChains, placeOf: (entry: number) => Place): void {
    for (const [chain, { exact, folded, told, pieces, candidates, called }] of saved) {
      this.#chains.set(chain, {
        exact,
        folded,
        told,
        candidates,
        pieces: pieces.map(({ entry, roles }) => ({ place: placeOf(entry), roles, chain })),
        called: new Set(called),
      });
    }
  }

  /** Notes the detectors that are to look at a joint because one of its texts opened their gate. */
  #call(chain: Chain, verdict: TextVerdict): void {
    for (const number of chain.candidates) chain.called.add(number);
    for (const number of verdict.candidates) chain.called.add(number);
    for (const number of this.#patternSet.always) chain.called.add(number);
    chain.candidates = verdict.candidates;
  }

  /**
   * Detectors read characters, not automata, so they get the joined texts; many short ones at once, because a
   * body may have a text for each letter.
   */
  #look(chain: Chain, report: JointListener): void {
    const { pieces, called } = chain;
    const last = pieces[pieces.length - 1] as Piece;
    if (pieces.length > 1 && called.size > 0) {
      const texts = pieces.map(({ place }) => textOf(place));
      for (const [reach, numbers] of this.#byReach(called, texts)) {
        const reported = new Set<number>();
        for (const separator of ['', ' ']) {
          for (const { patternMatch, at } of this.#crossing(numbers, join(texts, separator, reach))) {
            if (!reported.has(patternMatch.pattern))
              report(patternMatch, pieces[at] as Piece, pieces[at - 1] as Piece);
            reported.add(patternMatch.pattern);
          }
        }
      }
    }
    called.clear();
    // A long text parts what is before it from what follows; short ones stay, for a match may go on.
    const { document, entry } = last.place;
    if (document.end(entry) - document.start(entry) >= longText) {
      pieces.length = 0;
      pieces.push(last);
    } else pieces.splice(0, pieces.length - piecesKept);
  }

  /** Detectors by how much they are to read of the first and the last text: those that read all of them together. */
  #byReach(called: ReadonlySet<number>, texts: readonly string[]): ReadonlyMap<number, readonly number[]> {
    const longest = Math.max((texts[0] as string).length, (texts[texts.length - 1] as string).length);
    const byReach = new Map<number, number[]>();
    for (const number of called) {
      const pattern = this.#patternSet.patterns[number];
      if (pattern?.kind !== 'detector') continue;
      const own = Math.min(pattern.detector.reach, jointReach);
      const reach = own < longest ? own : jointReach;
      const same = byReach.get(reach);
      if (same === undefined) byReach.set(reach, [number]);
      else same.push(number);
    }
    return byReach;
  }

  #first(piece: Piece, verdict: TextVerdict): Chain {
    return {
      exact: this.#lanes.exact.begin([]).openedWith(verdict.after.exact),
      folded: this.#lanes.folded.begin([]).openedWith(verdict.after.folded),
      told: told(verdict, this.#patternMatches),
      pieces: [piece],
      candidates: verdict.candidates,
      called: new Set(),
    };
  }

  /** Runs what was open before through the beginning of a text; returns what is open at its end. */
  #goOn(view: View, before: Chain, text: TextBytes, { after }: TextVerdict): readonly State[] {
    // What ended with the text before shows only now, and is no news.
    this.#known = before.told;
    const lanes = this.#lanes[view].begin(before[view]);
    const { fold } = this.#patternSet;
    let at = text.start;
    for (let read = 0; at < text.end && !lanes.isEmpty && read < jointReach; read += 1) {
      readCharacter(text.bytes, at, this.#character);
      const { codePoint, length } = this.#character;
      at += length;
      const folded = view === 'exact' ? codePoint : fold.point(codePoint);
      if (folded > 0 || view === 'exact') lanes.advance(folded);
      else if (folded < 0) for (const each of fold.sequences[-1 - folded] ?? []) lanes.advance(each);
      this.#known = nothingTold;
    }
    if (at < text.end) lanes.drop();
    lanes.end();
    return lanes.openedWith(after[view]);
  }

  #note(view: View, patterns: readonly number[]): void {
    for (const pattern of patterns) {
      if (this.#known.size > 0 && this.#known.has(pattern)) continue;
      if (this.#patternSet.patterns[pattern]?.kind === 'detector') {
        this.#called.add(pattern);
        continue;
      }
      if (!this.#patternMatches.has(pattern)) this.#patternMatches.set(pattern, { pattern, view });
    }
  }

  /** What detectors find in joined texts that goes over a joint, and in which of the texts it ends. */
  #crossing(
    numbers: readonly number[],
    { text, joints }: Joined,
  ): readonly { patternMatch: PatternMatch; at: number }[] {
    return this.#reader.detect(numbers, text).flatMap((patternMatch) => {
      const ranges = findRanges(
        this.#patternSet.patterns[patternMatch.pattern] as Pattern,
        text,
        this.#patternSet.fold,
      );
      for (const { start, end } of ranges) {
        const at = partitionPoint(joints.length, (joint) => (joints[joint] as number) < end) - 1;
        if (at >= 0 && start < (joints[at] as number)) return { patternMatch, at: at + 1 };
      }
      return [];
    });
  }
}

function told(verdict: TextVerdict, across: ReadonlyMap<number, PatternMatch>): ReadonlySet<number> {
  if (verdict.patternMatches.length === 0 && across.size === 0) return nothingTold;
  return new Set([...verdict.patternMatches.map(({ pattern }) => pattern), ...across.keys()]);
}

const nothingTold: ReadonlySet<number> = new Set();
