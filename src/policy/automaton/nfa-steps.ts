import { endPoint } from './dfa-state.ts';
import { isWithin, type NfaNode, nodeKinds } from './nfa.ts';

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

  /** The node that one leads to with a character; undefined if none; `several` if that takes more than its ranges. */
  only(at: number, codePoint: number): number | typeof several | undefined {
    const { kind, ranges, out } = this.#nodes[at] as NfaNode;
    if (kind !== nodeKinds.ranges) return several;
    return isWithin(codePoint, ranges) ? out : undefined;
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
          for (let end = -1; node.next.has(end); end -= 1) stack.push(node.next.get(end) as number);
          break;
        default:
          alive.push(at);
      }
    }
    return { alive, patterns };
  }
}
