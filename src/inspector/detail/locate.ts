import type { TextRange } from '../contract/exchange-detail.ts';

const deepest = 200;
/** A hostile body matches in every one of its texts. */
const maxPointers = 1_000;
const token = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+)/gsy;

/** An object or a list whose end has not been seen. */
interface Open {
  readonly pointer: string;
  readonly start: number;
  /** The key whose value comes next, escaped, or the number of the entry. */
  step: string | number | undefined;
}

/**
 * Where the values at JSON pointers are in a JSON text. A pointer that leads into a string (JSON inside JSON) gives that
 * string; one that leads nowhere has no range. Of a text that is cut or malformed, what was found before that counts.
 */
export function locate(text: string, pointers: readonly string[]): ReadonlyMap<string, TextRange> {
  const found = new Map<string, TextRange>();
  const inText = pointers.filter((pointer) => pointer === '' || pointer.startsWith('/'));
  const wanted = new Set(inText.slice(0, maxPointers));
  /** Pointers that lead into a string, keyed by the string's own pointer. */
  const within = byParent(wanted);
  const note = (pointer: string, range: TextRange) => {
    if (wanted.has(pointer) && !found.has(pointer)) found.set(pointer, range);
  };
  const open: Open[] = [];
  for (const { 0: whole, 1: word = '', index } of text.matchAll(token)) {
    const parent = open.at(-1);
    const isSecond = parent === undefined && index > 0;
    if (isSecond || found.size === wanted.size || open.length > deepest) break;
    const end = index + whole.length;
    const start = end - word.length;
    const pointer = parent === undefined ? '' : `${parent.pointer}/${parent.step}`;
    if (word === '{' || word === '[') open.push({ pointer, start, step: word === '[' ? 0 : undefined });
    else if (word === '}' || word === ']') {
      if (parent !== undefined) note(parent.pointer, { start: parent.start, end });
      open.pop();
    } else if (word === ',') {
      if (parent !== undefined) parent.step = typeof parent.step === 'number' ? parent.step + 1 : undefined;
    } else if (word !== ':' && parent !== undefined && parent.step === undefined) {
      const key = decodeString(word);
      parent.step = key.replaceAll('~', '~0').replaceAll('/', '~1');
    } else if (word !== ':') {
      const inside = word.startsWith('"') ? (within.get(pointer) ?? []) : [];
      for (const each of [pointer, ...inside]) note(each, { start, end });
    }
  }
  return found;
}

function byParent(pointers: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const within = new Map<string, string[]>();
  for (const pointer of pointers) {
    for (let at = pointer.lastIndexOf('/'); at > 0; at = pointer.lastIndexOf('/', at - 1)) {
      const parent = pointer.slice(0, at);
      const known = within.get(parent);
      if (known === undefined) within.set(parent, [pointer]);
      else known.push(pointer);
    }
  }
  return within;
}

/** A JSON value as text: a string without quotes and escapes. */
export function decodeString(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : json;
  } catch {
    return json; // cut at the end of what is shown
  }
}
