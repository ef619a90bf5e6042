import type { Range } from '../detectors/detector.ts';
import { isWord } from './alphabet.ts';
import { contexts, endPoint, holding } from './dfa-state.ts';
import type { Fold } from './fold.ts';
import { type Nfa, type NfaNode, nodeKinds } from './nfa.ts';

const space = 0x20;

/** NFA nodes that are alive, each with the earliest place where it may have begun. */
type Threads = ReadonlyMap<number, number>;

interface Position {
  readonly threads: Threads;
  /** What may have stood before, as bits. */
  readonly context: number;
}

/**
 * Where the patterns of an NFA are in a text whose characters have several readings, whatever mixture of them it
 * takes. One pass over the characters, all readings side by side as the DFA has them; of matches that end in the same
 * place the longest is taken, and those that overlap become one.
 */
export function findMixed(nfa: Nfa, text: string, fold: Fold): readonly Range[] {
  const found: Range[] = [];
  let position: Position = { threads: new Map(), context: contexts.begin };
  let at = 0;
  for (const character of text) {
    const next = at + character.length;
    const folded = fold.point(character.codePointAt(0) as number);
    const readings = folded >= 0 ? [folded === 0 ? [] : [folded]] : fold.readings[-1 - folded];
    position = both((readings ?? []).map((reading) => read(position, reading, { start: at, end: next })));
    at = next;
  }
  step(position, endPoint, { start: at, end: at });
  return united(found);

  function read(from: Position, reading: readonly number[], { start, end }: Range): Position {
    let to = from;
    reading.forEach((codePoint, index) => {
      // What ends inside of a character ends with it.
      to = step(to, codePoint, { start, end: index === 0 ? start : end });
    });
    return to;
  }

  /** Reads a code point; `start` is where what begins with it begins, `end` where ends what ends before it. */
  function step(from: Position, codePoint: number, { start, end }: Range): Position {
    const isSpaceAgain = codePoint === space && (from.context & contexts.space) !== 0;
    if (isSpaceAgain && from.context === contexts.space) return from;
    const threads = new Map<number, number>();
    closure(from, codePoint, start).forEach((began, at) => {
      const node = nfa.nodes[at] as NfaNode;
      if (node.kind === nodeKinds.match) {
        if (end > began) found.push({ start: began, end });
        return;
      }
      const next = node.kind === nodeKinds.branch ? node.next.get(codePoint) : outOf(node, codePoint);
      if (next !== undefined && codePoint !== endPoint) keepEarliest(threads, next, began);
    });
    const position = { threads, context: contextOf(codePoint) };
    // Of a run of spaces only the first counts; here some readings have had it, others not.
    return isSpaceAgain ? both([position, { threads: from.threads, context: contexts.space }]) : position;
  }

  /** The nodes reached without reading, with the earliest beginning of each. */
  function closure({ threads, context }: Position, codePoint: number, start: number): Threads {
    const conditions = holding(context, codePoint);
    const reached = new Map<number, number>();
    const begun = [...threads].sort(([, one], [, other]) => one - other);
    for (const [first, began] of [...begun, ...nfa.starts.map((each) => [each, start] as const)]) {
      const stack = [first];
      while (stack.length > 0) {
        const at = stack.pop() as number;
        if (reached.has(at)) continue;
        reached.set(at, began);
        const node = nfa.nodes[at] as NfaNode;
        if (node.kind === nodeKinds.split) stack.push(node.out, node.other);
        if (node.kind === nodeKinds.assertion && (node.other & ~conditions) === 0) stack.push(node.out);
        for (let last = -1; node.next.has(last); last -= 1) stack.push(node.next.get(last) as number);
      }
    }
    return reached;
  }
}

function outOf(node: NfaNode, codePoint: number): number | undefined {
  if (node.kind !== nodeKinds.ranges) return undefined;
  for (let at = 0; at < node.ranges.length; at += 2) {
    const isWithin = codePoint >= (node.ranges[at] as number) && codePoint <= (node.ranges[at + 1] as number);
    if (isWithin) return node.out;
  }
  return undefined;
}

function contextOf(codePoint: number): number {
  if (codePoint === space) return contexts.space;
  return isWord(codePoint) ? contexts.word : contexts.other;
}

function both(positions: readonly Position[]): Position {
  const [only] = positions;
  if (positions.length === 1 && only !== undefined) return only;
  const threads = new Map<number, number>();
  let context = 0;
  for (const each of positions) {
    context |= each.context;
    for (const [node, began] of each.threads) keepEarliest(threads, node, began);
  }
  return { threads, context };
}

function keepEarliest(threads: Map<number, number>, node: number, began: number): void {
  const known = threads.get(node);
  if (known === undefined || began < known) threads.set(node, began);
}

/** Ranges that overlap become one. */
function united(ranges: readonly Range[]): readonly Range[] {
  const result: Range[] = [];
  for (const range of [...ranges].sort((one, other) => one.start - other.start)) {
    const last = result.at(-1);
    if (last === undefined || range.start >= last.end) result.push(range);
    else if (range.end > last.end) result[result.length - 1] = { start: last.start, end: range.end };
  }
  return result;
}
