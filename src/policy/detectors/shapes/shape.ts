import { type AnchoredRegex, longRunLength } from '../detector.ts';
import { isAlphanumeric, isIn } from '../text/characters.ts';
import { type CharacterRun, expandFormat, type KeyPart, readFormat } from './format.ts';
import groups from './services.json' with { type: 'json' };

/** What the keys of one service look like: plain data, compiled into the search. */
export interface Service {
  readonly name: string;
  /**
   * Each in the notation of `format.ts`: literal characters, `<set:length>`, `<one|other>` and `<uuid>`. Lengths are
   * only as strict as they are known to be stable.
   */
  readonly formats: readonly string[];
  /** The page that documents the key: the vendor's, or `github` for GitHub's list of supported secret-scanning patterns. */
  readonly page: string;
  /** The month in which a page of the vendor was seen to show this prefix; absent if none was found. */
  readonly confirmed?: string;
}

/** Every service whose keys have a recognizable shape; those of blockchains are private keys as wallets export them. */
export const services: readonly Service[] = Object.values(groups).flat();

/** One key format of a service, compiled for the search. */
export interface Shape {
  readonly service: string;
  /** What is searched for first: the longest literal. */
  readonly anchor: string;
  /** The parts before the anchor, the nearest first. */
  readonly before: readonly KeyPart[];
  readonly after: readonly KeyPart[];
  /** Whether a key must be at the beginning of a word; false if the format begins with a sign. */
  readonly beginsWord: boolean;
  /** Nothing else looks like it: its literals are long enough and not everyday words. */
  readonly isUnique: boolean;
  /**
   * Whether letters that say whose they are stand before one length, or a long run without hyphens: then the rest need not
   * look random.
   */
  readonly isFixed: boolean;
  /** A vendor's source confirms the shape; without one no key is certain by its shape. */
  readonly isConfirmed: boolean;
  readonly maxLength: number;
}

export function toShapes(service: Service): readonly Shape[] {
  return service.formats.flatMap(expandFormat).map((format) => toShape(service, readFormat(format)));
}

function toShape({ name: service, confirmed }: Service, parts: readonly KeyPart[]): Shape {
  const literals = parts.filter((part) => typeof part === 'string');
  const anchor = literals.reduce((best, each) => (each.length > best.length ? each : best), '');
  if (anchor.length < 2) throw new Error(`${service}: a key needs two literal characters to be looked for`);
  const at = parts.indexOf(anchor);
  const [first] = parts;
  return {
    service,
    anchor,
    before: parts.slice(0, at).toReversed(),
    after: parts.slice(at + 1),
    beginsWord: typeof first !== 'string' || isAlphanumeric(first.charCodeAt(0)),
    isUnique: isUnique(literals, parts),
    isFixed: isFixed(literals, parts),
    isConfirmed: confirmed !== undefined,
    maxLength: parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : part.max), 2),
  };
}

const plainWords =
  /^(?:live|test|token|secret|api|sdk|mob|web|app|auto|access|key|standard|organization|account|session|sess|oauth|console|cal|pat|sat)$/;

/** Hyphens alone, as in a UUID, prove nothing. */
function isUnique(literals: readonly string[], parts: readonly KeyPart[]): boolean {
  const distinctive = literals.filter((literal) => /[A-Za-z0-9]/.test(literal));
  const [first = ''] = distinctive;
  if (plainWords.test(first.replace(/[^A-Za-z]+$/, ''))) return false;
  const length = distinctive.join('').length;
  if (length >= 5) return true;
  const random = parts.reduce((sum, part) => sum + (typeof part === 'string' ? 0 : part.min), 0);
  return length === 4 && /[_-]$/.test(first) && random >= 30;
}

const minFixed = 16;
const hyphen = 0x2d;

function isFixed(literals: readonly string[], parts: readonly KeyPart[]): boolean {
  const runs = parts.filter((part) => typeof part !== 'string');
  const length = runs.reduce((sum, { min }) => sum + min, 0);
  const hasLength = ({ min, max, set }: CharacterRun) => min === max || (min >= 30 && !isIn(set, hyphen));
  if (length < minFixed || !runs.every(hasLength)) return false;
  return isUnique(literals, parts) || /^[A-Z]{4}$/.test(literals[0] ?? '');
}

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

/**
 * Prefilter: every text with a key of any shape contains one of these in its folded view. Each is an anchor and part of
 * what follows (more for shorter anchors, so that ordinary words don't match).
 */
export function prefiltersOf(shapes: readonly Shape[]): readonly AnchoredRegex[] {
  const regexes = new Map<string, AnchoredRegex & { literals: Set<string> }>();
  for (const shape of shapes) {
    if (isSeenAsLongRun(shape)) continue;
    const { anchor, before, after } = shape;
    const atWordStart = anchor.length < 3 && before.length === 0;
    const tail = tailOf(after, anchor.length < 3 ? 32 : anchor.length < 4 ? 20 : 10);
    const key = `${atWordStart} ${tail}`;
    const regex = regexes.get(key) ?? { literals: new Set<string>(), atWordStart, tail };
    regexes.set(key, regex);
    regex.literals.add(anchor.toLowerCase());
  }
  return [...regexes.values()];
}

/**
 * Whether every key is a run that the prefilter finds anyway (`longRunLength`) and certainly contains a digit: then its
 * anchor, often as short as `sk-`, need not be in the automaton. Unique shapes are also found in pieces, which may be
 * short.
 */
function isSeenAsLongRun({ isUnique: mayBeInPieces, anchor, before, after }: Shape): boolean {
  if (mayBeInPieces) return false;
  let length = 0;
  /** Expected share of digits: ten of sixteen hex digits, ten of 62 letters and digits. */
  let digits = 0;
  for (const part of [...before, anchor, ...after]) {
    const isPartOfRun = typeof part === 'string' ? /^[\w.~$+/=-]*$/.test(part) : !part.regex.includes('%');
    if (!isPartOfRun) return false;
    length += typeof part === 'string' ? part.length : part.min;
    if (typeof part !== 'string') digits += part.min * (part.regex === '[0-9a-f]' ? 0.6 : 0.16);
  }
  return length >= longRunLength && digits >= minDigits;
}

/** One in a thousand keys with this many characters has none. */
const minDigits = 6.5;

/** An expression for the first characters of some parts, up to the first part with a wide range of lengths. */
function tailOf(parts: readonly KeyPart[], count: number): string {
  let tail = '';
  let left = count;
  for (const part of parts) {
    if (left <= 0) break;
    const length = typeof part === 'string' ? part.length : part.min;
    if (typeof part === 'string') tail += literally(part.toLowerCase());
    else if (part.min >= left || part.max - part.min > 3) {
      return `${tail}${part.regex}{${Math.min(left, part.min)}}`;
    } else tail += `${part.regex}{${part.min},${part.max}}`;
    left -= length;
  }
  return tail;
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
