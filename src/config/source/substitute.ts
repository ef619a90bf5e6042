type Path = readonly PropertyKey[];
type Environment = Readonly<Record<string, string | undefined>>;

/** One string that took something from the environment. */
export interface Reference {
  readonly path: Path;
  readonly names: readonly string[];
  /** The string is `${NAME}` and nothing else. */
  readonly isEntireValue: boolean;
  /** The names among them that are unset or empty; the value is then left out. */
  readonly unset: readonly string[];
}

export interface Substituted {
  readonly value: unknown;
  readonly references: readonly Reference[];
  /** Strings with a `${` that is no reference. */
  readonly malformed: readonly Path[];
}

const pattern = /\$\$\{|\$\{([^}]*)(\}?)/g;
const nameOfVariable = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Replaces `${NAME}` in every string of a parsed file; `$${` stands for `${`. Keys of maps stay as they are. */
export function substitute(value: unknown, env: Environment): Substituted {
  const references: Reference[] = [];
  const malformed: Path[] = [];
  // What holds no reference stays the object that it is; the path is copied only where it is kept.
  const path: PropertyKey[] = [];
  const visit = (at: unknown): unknown => {
    if (typeof at === 'string') return at.includes('${') ? expand(at, [...path]) : at;
    if (typeof at !== 'object' || at === null) return at;
    const isList = Array.isArray(at);
    let changed: Map<string, unknown> | undefined;
    for (const key of Object.keys(at)) {
      const inner = (at as Readonly<Record<string, unknown>>)[key]; // its own
      path.push(isList ? Number(key) : key);
      const next = visit(inner);
      path.pop();
      if (next === inner) continue;
      changed ??= new Map(Object.entries(at));
      changed.set(key, next);
    }
    if (changed === undefined) return at;
    const entries = [...changed].filter(([, inner]) => inner !== undefined);
    return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
  };
  // Own properties only: `constructor` is no variable.
  const read = (name: string) => (Object.hasOwn(env, name) ? (env[name] ?? '') : '');
  const expand = (text: string, path: Path): string | undefined => {
    const names: string[] = [];
    let isMalformed = false;
    const result = text.replace(pattern, (found, name: string | undefined, end: string | undefined) => {
      if (found === '$${') return '${';
      if (name === undefined || end === '' || !nameOfVariable.test(name)) isMalformed = true;
      else names.push(name);
      return read(name ?? '');
    });
    if (isMalformed) malformed.push(path);
    const unset = names.filter((name) => read(name) === '');
    if (names.length > 0) references.push({ path, names, isEntireValue: text === `\${${names[0]}}`, unset });
    return isMalformed || unset.length > 0 ? undefined : result;
  };
  return { value: visit(value), references, malformed };
}
