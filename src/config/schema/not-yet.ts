type Path = readonly PropertyKey[];

interface Row {
  /** `*` stands for any one name. */
  readonly path: readonly string[];
  /** The values that already work. */
  readonly accepted: readonly unknown[];
}

/**
 * Settings whose shape is fixed but which don't work yet. They are errors, never ignored: a limit that is
 * written down and not kept is worse than none. Building a feature deletes its line.
 */
export const notYet: readonly Row[] = [{ path: ['inspector', 'enabled'], accepted: [false] }];

/** Everything in a file that doesn't work yet, as paths with what is accepted there. */
export function findNotYet(value: unknown): { readonly path: Path; readonly accepted: readonly unknown[] }[] {
  return notYet.flatMap(({ path, accepted }) =>
    follow(value, path)
      .filter((hit) => !accepted.includes(hit.value))
      .map((hit) => ({ path: hit.path, accepted })),
  );
}

interface Hit {
  readonly path: Path;
  readonly value: unknown;
}

function follow(value: unknown, path: readonly string[]): Hit[] {
  return path.reduce<Hit[]>((hits, name) => hits.flatMap((hit) => step(hit, name)), [{ path: [], value }]);
}

function step({ path, value }: Hit, name: string): Hit[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([key]) => name === '*' || key === name)
    .map(([key, inner]) => ({ path: [...path, key], value: inner }));
}
