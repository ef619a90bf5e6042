/** A pattern with * (any characters) and ? (one character) that must match the whole of a name. */
export type Glob = (name: string) => boolean;

/** Compiles a glob. Matching is linear in practice and never worse than pattern times name. */
export function compileGlob(pattern: string): Glob {
  const wanted = Array.from(pattern);
  return (name) => matches(wanted, Array.from(name));
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

/** Whether every name of one glob is one of another; "no" where that is hard to tell. */
export function covers(wide: string, narrow: string): boolean {
  if (wide === narrow || wide === '*') return true;
  if (narrow.includes('*') || narrow.includes('?')) {
    const stem = wide.endsWith('*') ? wide.slice(0, -1) : undefined;
    return stem !== undefined && !/[*?]/.test(stem) && narrow.startsWith(stem);
  }
  return compileGlob(wide)(narrow);
}
