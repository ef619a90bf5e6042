// Names come from clients and providers, who may make up as many as they like.
const rememberedNames = 1_000;
// They may also be as long as a body.
const longestName = 64;

/** The same function, which finds out about a short name once: for names that come again in every request. */
export function memoize<Found extends object | string | boolean>(
  find: (name: string) => Found,
): (name: string) => Found {
  const known = new Map<string, Found>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const found = find(name);
    if (name.length <= longestName && known.size < rememberedNames) known.set(name, found);
    return found;
  };
}
