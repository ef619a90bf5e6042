import type { Shape } from './shape.ts';

/** Anchors as a trie: those that differ from a text early are ruled out together. */
export interface AnchorNode {
  readonly code: number;
  /** The shapes whose anchor ends here, in reverse order of the table. */
  readonly shapes: Shape[];
  readonly next: AnchorNode[];
}

export interface AnchorTree extends AnchorNode {
  /** Whether all of its shapes begin with the anchor, at the beginning of a word. */
  beginsWord: boolean;
}

/** Tries by the anchors' first two characters, each as seven bits. */
export interface AnchorTrees {
  readonly trees: ReadonlyMap<number, AnchorTree>;
  /** By two characters, so that most positions cost one lookup: where a trie of them can begin, if there is one. */
  readonly beginnings: Uint8Array;
}

/** Where anchors with the same first two characters can begin. */
export const beginsNowhere = 0;
export const beginsWordsOnly = 1;
const beginsAnywhere = 2;

export function plantAnchors(shapes: readonly Shape[]): AnchorTrees {
  const trees = new Map<number, AnchorTree>();
  const beginnings = new Uint8Array(1 << 14);
  for (const shape of shapes) {
    const { anchor, before } = shape;
    const beginning = (anchor.charCodeAt(0) << 7) | anchor.charCodeAt(1);
    const tree = trees.get(beginning) ?? { code: 0, shapes: [], next: [], beginsWord: true };
    trees.set(beginning, tree);
    tree.beginsWord &&= shape.beginsWord && before.length === 0;
    beginnings[beginning] = tree.beginsWord ? beginsWordsOnly : beginsAnywhere;
    let node: AnchorNode = tree;
    for (let at = 2; at < anchor.length; at += 1) node = grow(node, anchor.charCodeAt(at));
    node.shapes.unshift(shape);
  }
  return { trees, beginnings };
}

/** The anchors that continue with a character. */
export function goOn({ next }: AnchorNode, code: number): AnchorNode | undefined {
  for (let at = 0; at < next.length; at += 1) {
    const child = next[at] as AnchorNode;
    if (child.code === code) return child;
  }
  return undefined;
}

function grow(node: AnchorNode, code: number): AnchorNode {
  const known = goOn(node, code);
  if (known !== undefined) return known;
  const child = { code, shapes: [], next: [] };
  node.next.push(child);
  return child;
}
