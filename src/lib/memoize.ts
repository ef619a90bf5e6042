// Names come from clients and providers, which may invent any number of them.
const maxNames = 1_000;
// They may also be as long as a body.
const maxNameLength = 64;

/** Memoizes a function of short names, for names that recur in every request. The cache is bounded. */
export function memoize<Found extends object | string | boolean>(
  find: (name: string) => Found,
): (name: string) => Found {
  const known = new Map<string, Found>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const found = find(name);
    if (name.length > maxNameLength) return found;
    // Names that a stranger made up must not keep out those that recur.
    if (known.size >= maxNames) known.clear();
    known.set(name, found);
    return found;
  };
}
