import type { RE2JS } from 're2js';
import type { AnchoredRegex } from '../detectors/detector.ts';

type Anchors = Omit<AnchoredRegex, 'tail'>;

/** The position after the last character. */
export const endPoint = -1;

/** The "letter" of a branch that leads on where its first literal ends. */
const firstEnd = -1;

export const nodeKinds = { ranges: 0, split: 1, assertion: 2, match: 3, branch: 4 } as const;

/** One node of the NFA; which fields mean something depends on its kind. */
interface NfaNode {
  readonly kind: (typeof nodeKinds)[keyof typeof nodeKinds];
  readonly out: number;
  /** The second way of a split; the conditions of an assertion; the pattern of a match. */
  readonly other: number;
  /** Pairs of first and last code point. */
  readonly ranges: readonly number[];
  /** Of a branch: the node each code point leads to. */
  readonly next: Map<number, number>;
}

/** Conditions on a place in the text, as RE2 numbers them. */
export const assertions = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;

// RE2's instructions. Any other is reported when the configuration is loaded, instead of causing a miss later.
const alt = 1;
const altMatch = 2;
const capture = 3;
const emptyWidth = 4;
const fail = 5;
const match = 6;
const nop = 7;
const rune = 8;
const rune1 = 9;
const runeAny = 10;
const runeAnyNotNewline = 11;
const foldCase = 1;
const lastPoint = 0x10ffff;

/** The part of re2js's compiled program that is used here. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(codePoint: number): boolean;
}

/** All patterns of a set as one NFA: phrases as a trie, regular expressions as RE2 compiles them. */
export class Nfa {
  readonly nodes: NfaNode[] = [];
  /** Nodes where every search begins. */
  readonly starts: number[] = [];
  /** The patterns of which only prefilters are here; their nodes and starts come after all others. */
  readonly prefiltered = new Set<number>();
  /** How many nodes and starts there are without prefilters. */
  #own: { readonly nodes: number; readonly starts: number } | undefined;
  readonly #phrases: number;
  readonly #orbits = new Map<number, readonly number[]>();

  constructor() {
    this.#phrases = this.#branch();
    this.starts.push(this.#phrases);
  }

  addPhrase(phrase: string, pattern: number): void {
    this.#end(this.#path(this.#phrases, phrase), this.#add(nodeKinds.match, 0, pattern));
  }

  /** The node of a trie that a literal leads to. */
  #path(trie: number, literal: string): number {
    let at = trie;
    for (const character of literal) {
      const codePoint = character.codePointAt(0) as number;
      const { next } = this.nodes[at] as NfaNode;
      let child = next.get(codePoint);
      if (child === undefined) {
        child = this.#branch();
        next.set(codePoint, child);
      }
      at = child;
    }
    return at;
  }

  /** Lets a literal of a trie end in a node. Several may: each is a branch of a letter "end", which no text contains. */
  #end(at: number, node: number): void {
    const { next } = this.nodes[at] as NfaNode;
    let end = firstEnd;
    while (next.has(end)) end -= 1;
    next.set(end, node);
  }

  addRegex(regex: RE2JS, pattern: number): void {
    this.starts.push(this.#program(regex, pattern));
  }

  /**
   * Adds an expression that shows no more than that a pattern may be in a text; with `anchors`, it follows one of these
   * literals, at the beginning of a word or anywhere. Nothing else may be added afterwards.
   */
  addPrefilter(regex: RE2JS, pattern: number, anchors?: Anchors): void {
    this.#own ??= { nodes: this.nodes.length, starts: this.starts.length };
    this.prefiltered.add(pattern);
    const tail = this.#program(regex, pattern);
    this.starts.push(anchors === undefined ? tail : this.#anchored(anchors, tail));
  }

  /** The node where the literals begin that lead to a node. */
  #anchored({ literals, atWordStart }: Anchors, tail: number): number {
    const trie = this.#branch();
    for (const literal of literals) this.#end(this.#path(trie, literal), tail);
    return atWordStart ? this.#add(nodeKinds.assertion, trie, assertions.wordBoundary) : trie;
  }

  /** The first node of what an expression compiles to. */
  #program(regex: RE2JS, pattern: number): number {
    const program = regex.re2().prog;
    const instructions = program.inst as readonly Instruction[];
    const first = this.nodes.length;
    for (const instruction of instructions) this.#instruction(instruction, first, pattern);
    return first + program.start;
  }

  /** All but the prefilters; nodes have the same numbers. */
  withoutPrefilters(): Nfa {
    const own = new Nfa();
    for (let at = 1; at < this.prefiltersFrom; at += 1) own.nodes.push(this.nodes[at] as NfaNode);
    own.nodes[0] = this.nodes[0] as NfaNode;
    for (const start of this.ownStarts.slice(1)) own.starts.push(start);
    return own;
  }

  /** The number from which on nodes belong to prefilters. */
  get prefiltersFrom(): number {
    return this.#own?.nodes ?? this.nodes.length;
  }

  /** The starts of what is no prefilter. */
  get ownStarts(): readonly number[] {
    return this.starts.slice(0, this.#own?.starts);
  }

  #instruction(instruction: Instruction, first: number, pattern: number): void {
    const { op, arg } = instruction;
    const out = first + instruction.out;
    switch (op) {
      case alt:
      case altMatch:
        this.#add(nodeKinds.split, out, first + arg);
        return;
      case capture:
      case nop:
        this.#add(nodeKinds.split, out, out);
        return;
      case emptyWidth:
        this.#add(nodeKinds.assertion, out, arg);
        return;
      case fail:
        this.#add(nodeKinds.ranges, out, 0, []);
        return;
      case match:
        this.#add(nodeKinds.match, 0, pattern);
        return;
      case rune:
      case rune1:
        this.#add(nodeKinds.ranges, out, 0, this.#runes(instruction));
        return;
      case runeAny:
        this.#add(nodeKinds.ranges, out, 0, [0, lastPoint]);
        return;
      case runeAnyNotNewline:
        this.#add(nodeKinds.ranges, out, 0, [0, 9, 11, lastPoint]);
        return;
      default:
        throw new Error(`instruction ${op} is not known`);
    }
  }

  #runes(instruction: Instruction): readonly number[] {
    const runes = Array.from(instruction.runes);
    const [only] = runes;
    if (runes.length !== 1 || only === undefined) return runes;
    if ((instruction.arg & foldCase) === 0) return [only, only];
    return this.#orbit(only, instruction).flatMap((each) => [each, each]);
  }

  /** All code points that differ from this one only in case, according to re2js. */
  #orbit(codePoint: number, instruction: Instruction): readonly number[] {
    const known = this.#orbits.get(codePoint);
    if (known !== undefined) return known;
    const orbit = casedLike(codePoint).filter((each) => instruction.matchRune(each));
    this.#orbits.set(codePoint, orbit);
    return orbit;
  }

  #branch(): number {
    return this.#add(nodeKinds.branch, 0, 0);
  }

  #add(kind: NfaNode['kind'], out: number, other: number, ranges: readonly number[] = []): number {
    this.nodes.push({ kind, out, other, ranges, next: kind === nodeKinds.branch ? new Map() : none });
    return this.nodes.length - 1;
  }
}

/** Candidates for the twins of a letter: of an ASCII one these are all there are, else every letter with case. */
function casedLike(codePoint: number): readonly number[] {
  if (codePoint < 0x80) {
    const letter = String.fromCodePoint(codePoint);
    const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
    return [...new Set([codePoint, other.codePointAt(0) as number, longS, kelvin])];
  }
  return Array.from({ length: casedPlanes }, (_, each) => each);
}

const longS = 0x17f;
const kelvin = 0x212a;
// Letters with case lie below this.
const casedPlanes = 0x1f000;
const none: Map<number, number> = new Map();

/** Whether a node's ranges, which are in ascending order, hold a code point. */
function isWithin(codePoint: number, ranges: readonly number[]): boolean {
  for (let at = 0; at < ranges.length; at += 2) {
    if (codePoint < (ranges[at] as number)) return false;
    if (codePoint <= (ranges[at + 1] as number)) return true;
  }
  return false;
}

/** Whether a node can start a match only in the middle of a word. */
export function isInsideWords(node: NfaNode): boolean {
  return node.kind === nodeKinds.assertion && (node.other & assertions.noWordBoundary) !== 0;
}

/** Which nodes a pass over an NFA has met; nothing is cleared between passes. */
export class Marks {
  /** For each node the last pass that met it: doubles, which a process doesn't run out of. */
  readonly last: Float64Array;
  #pass = 0;

  constructor(count: number) {
    this.last = new Float64Array(count);
  }

  /** The number of a pass that begins, in which no node has been met. */
  nextPass(): number {
    this.#pass += 1;
    return this.#pass;
  }
}

interface Advance {
  readonly threads: readonly number[];
  readonly patterns: readonly number[];
}

/** Nodes that read a character, and the patterns that end before it. */
export interface Closure {
  readonly alive: readonly number[];
  readonly patterns: readonly number[];
}

/** With its threads sorted, each once. */
export interface SortedAdvance extends Omit<Advance, 'threads'> {
  readonly threads: Int32Array;
}

export const several = -1;

/** Moves through the nodes of an NFA; shared by all automata that are built from it. */
export class NfaSteps {
  readonly #nodes: readonly NfaNode[];
  readonly #marks: Marks;

  constructor(nodes: readonly NfaNode[]) {
    this.#nodes = nodes;
    this.#marks = new Marks(nodes.length);
  }

  get nodeCount(): number {
    return this.#nodes.length;
  }

  /** Whether it depends on what stood before where a node leads. */
  asksForContext(node: number): boolean {
    const pass = this.#marks.nextPass();
    const marks = this.#marks.last;
    const stack = [node];
    while (stack.length > 0) {
      const at = stack.pop() as number;
      if (marks[at] === pass) continue;
      marks[at] = pass;
      const { kind, out, other } = this.#nodes[at] as NfaNode;
      if (kind === nodeKinds.assertion) return true;
      if (kind === nodeKinds.split) stack.push(out, other);
    }
    return false;
  }

  /** The node that one leads to with a character; undefined if none; `several` if there may be more. */
  only(at: number, codePoint: number): number | typeof several | undefined {
    const { kind, ranges, out, next } = this.#nodes[at] as NfaNode;
    if (kind === nodeKinds.ranges) return isWithin(codePoint, ranges) ? out : undefined;
    // Where no literal ends, a branch is no more than its letters.
    return kind === nodeKinds.branch && !next.has(firstEnd) ? next.get(codePoint) : several;
  }

  /** The nodes reached by a character, and the patterns that end before it. */
  advance(nodes: ArrayLike<number>, conditions: number, codePoint: number): Advance {
    return this.move(this.closure(nodes, conditions), codePoint);
  }

  /** The nodes reached by a character from others that read one. */
  move({ alive, patterns }: Closure, codePoint: number): Advance {
    const threads: number[] = [];
    for (const each of alive) {
      const node = this.#nodes[each] as NfaNode;
      if (node.kind === nodeKinds.branch) {
        const child = codePoint === endPoint ? undefined : node.next.get(codePoint);
        if (child !== undefined) threads.push(child);
      } else if (isWithin(codePoint, node.ranges)) threads.push(node.out);
    }
    return { threads, patterns };
  }

  /** The nodes reached without reading, given the conditions that hold here, and the patterns among them. */
  closure(nodes: ArrayLike<number>, conditions: number): Closure {
    const pass = this.#marks.nextPass();
    const marks = this.#marks.last;
    const stack = Array.from(nodes);
    const alive: number[] = [];
    const patterns: number[] = [];
    while (stack.length > 0) {
      const at = stack.pop() as number;
      if (marks[at] === pass) continue;
      marks[at] = pass;
      const node = this.#nodes[at] as NfaNode;
      switch (node.kind) {
        case nodeKinds.split:
          stack.push(node.out);
          if (node.other !== node.out) stack.push(node.other);
          break;
        case nodeKinds.assertion:
          if ((node.other & ~conditions) === 0) stack.push(node.out);
          break;
        case nodeKinds.match:
          patterns.push(node.other);
          break;
        case nodeKinds.branch:
          alive.push(at);
          for (let end = firstEnd; node.next.has(end); end -= 1) stack.push(node.next.get(end) as number);
          break;
        default:
          alive.push(at);
      }
    }
    return { alive, patterns };
  }
}
