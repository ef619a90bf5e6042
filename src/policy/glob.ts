/** A pattern with * (any characters) and ? (one character) that must match the whole of a name. */
export type Glob = (name: string) => boolean;

/** Compiles a glob. Matching is linear, and with a `?` never worse than pattern times name. */
export function compileGlob(pattern: string): Glob {
  if (!pattern.includes('?')) return matchParts(pattern.split('*'));
  const wanted = Array.from(pattern);
  return (name) => matches(wanted, Array.from(name));
}

/**
 * Finds which of many globs is the first to match a name: its index, or -1. Names without wildcards are looked up; of the
 * others only those are tried with which the name shares what stands before the first wildcard and after the last.
 */
export function compileGlobs(patterns: readonly string[]): (name: string) => number {
  const exact = new Map<string, number>();
  const byEnds = new Map<string, { readonly at: number; readonly matches: Glob }[]>();
  const lengths = new Map<string, readonly [head: number, tail: number]>();
  for (const [at, pattern] of patterns.entries()) {
    if (!/[*?]/.test(pattern)) {
      if (!exact.has(pattern)) exact.set(pattern, at);
      continue;
    }
    const [head = ''] = pattern.split(/[*?]/, 1);
    const tail = /[^*?]*$/.exec(pattern)?.[0] ?? '';
    const ends = `${head}*${tail}`;
    const others = byEnds.get(ends) ?? [];
    others.push({ at, matches: compileGlob(pattern) });
    byEnds.set(ends, others);
    lengths.set(`${head.length} ${tail.length}`, [head.length, tail.length]);
  }
  return (name) => {
    let first = exact.get(name) ?? patterns.length;
    for (const [head, tail] of lengths.values()) {
      const ends = `${name.slice(0, head)}*${tail === 0 ? '' : name.slice(-tail)}`;
      const found = byEnds.get(ends)?.find(({ at, matches }) => at >= first || matches(name));
      if (found !== undefined) first = Math.min(first, found.at);
    }
    return first === patterns.length ? -1 : first;
  };
}

/** A name that begins and ends with the outer parts, and between them holds the others in order. */
function matchParts(parts: readonly string[]): Glob {
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return (name) => name === first;
  const middle = parts.slice(1, -1).filter((part) => part !== '');
  const minLength = first.length + last.length;
  return (name) => {
    if (name.length < minLength || !name.startsWith(first) || !name.endsWith(last)) return false;
    return holdsInOrder(name.slice(first.length, name.length - last.length), middle);
  };
}

function holdsInOrder(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return true;
}

function matches(wanted: readonly string[], name: readonly string[]): boolean {
  let at = 0;
  let want = 0;
  let star = -1;
  let resume = 0;
  while (at < name.length) {
    if (wanted[want] === '*') {
      star = want;
      resume = at;
      want += 1;
    } else if (want < wanted.length && (wanted[want] === '?' || wanted[want] === name[at])) {
      want += 1;
      at += 1;
    } else if (star >= 0) {
      want = star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  while (wanted[want] === '*') want += 1;
  return want === wanted.length;
}

/**
 * Whether every name of one glob is one of another: the narrow one's wildcards are read as characters that only a
 * wildcard matches. "No" if that is hard to decide.
 */
export function covers(wide: string, narrow: string): boolean {
  if (narrow.includes('*') && wide.includes('?')) return wide === narrow;
  return compileGlob(wide)(narrow);
}

/** Whether some name matches both globs. */
export function overlaps(one: string, other: string): boolean {
  const [a, b] = [Array.from(one), Array.from(other)];
  // reachable[j]: the first characters of `a`, and the first j of `b`, can stand for the same text.
  let reachable = b.map(() => false);
  reachable.unshift(true);
  for (let j = 0; j < b.length && b[j] === '*'; j += 1) reachable[j + 1] = true;
  for (const character of a) {
    const next = [character === '*' && reachable[0] === true];
    for (const [j, wanted] of b.entries()) {
      const isSame = character === wanted || character === '?' || wanted === '?';
      next.push(
        character === '*' || wanted === '*'
          ? reachable[j + 1] === true || next[j] === true || reachable[j] === true
          : isSame && reachable[j] === true,
      );
    }
    reachable = next;
  }
  return reachable[b.length] === true;
}
