/** A test for a glob whose one wildcard is `*`: any run of characters, also none. Linear: no backtracking. */
export function compileGlob(glob: string): (text: string) => boolean {
  const parts = glob.split('*');
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return (text) => text === glob;
  const middle = parts.slice(1, -1).filter((part) => part !== '');
  const leastLength = first.length + last.length;
  return (text) => {
    if (text.length < leastLength || !text.startsWith(first) || !text.endsWith(last)) return false;
    return holdsInOrder(text.slice(first.length, text.length - last.length), middle);
  };
}

/**
 * Whether everything `narrow` matches is matched by `wide`: its stars are taken for characters that only a
 * star can match. Never says yes wrongly, except for a name that itself holds a star, which no model has.
 */
export function covers(wide: string, narrow: string): boolean {
  return compileGlob(wide)(narrow);
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
