type Path = readonly PropertyKey[];
type Environment = Readonly<Record<string, string | undefined>>;

/** One string that took something from the environment. */
export interface Reference {
  readonly path: Path;
  readonly names: readonly string[];
  /** The string is `${NAME}` and nothing else. */
  readonly isWhole: boolean;
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
  const visit = (at: unknown, path: Path): unknown => {
    if (Array.isArray(at))
      return at.map((item, i) => visit(item, [...path, i])).filter((item) => item !== undefined);
    if (typeof at === 'object' && at !== null) {
      const entries = Object.entries(at).map(([key, inner]) => [key, visit(inner, [...path, key])] as const);
      return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined));
    }
    return typeof at === 'string' && at.includes('${') ? expand(at, path) : at;
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
    if (names.length > 0) references.push({ path, names, isWhole: text === `\${${names[0]}}`, unset });
    return isMalformed || unset.length > 0 ? undefined : result;
  };
  return { value: visit(value, []), references, malformed };
}
