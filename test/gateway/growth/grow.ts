// Makes large inputs of small samples: every list of a sample with more elements, every object with more members, every
// text longer. Whoever adds a field to a sample has its growth in all generators.

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** One way in which a sample grows. */
export interface Growth {
  readonly name: string;
  /** JSON of about so many bytes. */
  make(bytes: number): string;
}

/** Numbers of one length: longer ones, of larger inputs, would look like other fields, or like parts of a card's number. */
const padded = (at: number) => String(at).padStart(7, '0');

/** How the ids and names of repeated elements differ. */
const numberings = {
  /** No two are the same, so that nothing belongs to anything. */
  apart: (element: number, _count: number, list: number) => `${list}x${padded(element)}`,
  /** The elements of one list belong to those of another, in order. */
  paired: (element: number) => padded(element),
  /** The same, the last to the first. */
  crossed: (element: number, count: number, list: number) =>
    padded(list % 2 === 0 ? element : count - 1 - element),
  /** All are the same. */
  same: () => padded(1),
} as const;
type Numbering = (typeof numberings)[keyof typeof numberings];

/** What elements are found by: ids, and names wherever they stand. */
type IsNumbered = (value: string) => boolean;

function idsOf(root: Json): IsNumbered {
  const names = new Set<string>();
  const visit = (value: Json, key: string): void => {
    if (typeof value === 'string') {
      if (key === 'name') names.add(value);
    } else if (Array.isArray(value)) for (const each of value as readonly Json[]) visit(each, '');
    else if (isObject(value)) for (const [name, each] of Object.entries(value)) visit(each, name);
  };
  visit(root, '');
  return (value) => /_\d+$/.test(value) || names.has(value);
}

const members: Readonly<Record<string, (at: number) => readonly [key: string, value: Json]>> = {
  keys: (at) => [`key${padded(at)}`, 1],
  'escaped keys': (at) => [`${escaped}${padded(at)}`, 1],
  'big numbers': (at) => [`n${padded(at)}`, 4_111_111_111_110_000 + at],
  texts: (at) => [`t${padded(at)}`, 'x'],
  objects: (at) => [
    `o${padded(at)}`,
    { type: 'text', id: `id_${padded(at)}`, name: `name${padded(at)}`, a: [at] },
  ],
};
/** Stands for an escape in a key, which `JSON.stringify` would not write. */
const escaped = '\ue000';

const texts: Readonly<Record<string, string>> = {
  words: 'the gateway should stream tokens ',
  quotes: '"',
  braces: '{"a":',
  digits: '4111 1111 ',
  addresses: 'a@b.example, ',
  'names of secrets': 'api_key:',
  'beginnings of keys': 'sk-ant-api03-',
};

/** All ways in which a sample grows. */
export function growthsOf(sample: unknown): readonly Growth[] {
  const root = sample as Json; // parsed JSON, or a literal of it
  const isNumbered = idsOf(root);
  const { lists, objects, strings } = placesIn(root, isNumbered);
  const numbered = lists.filter((list) => list.isNumbered).map(({ path }) => path);
  // A list inside a list that grows would grow twice.
  const innermost = numbered.filter((path) => !numbered.some((other) => other.startsWith(`${path}.`)));
  const growing = (name: string, at: (count: number) => Json): Growth => {
    const size = (count: number) => Buffer.byteLength(write(at(count)));
    return {
      name,
      make: (bytes) => {
        const unit = (size(64) - size(32)) / 32;
        return write(at(Math.max(2, Math.round((bytes - size(0)) / unit))));
      },
    };
  };
  return [
    ...lists.flatMap(({ path, isNumbered: hasIds }) =>
      Object.entries(hasIds ? numberings : { same: numberings.same }).map(([name, numbering]) =>
        growing(`${path}: more, ${name}`, (count) =>
          growLists(root, [path], { count, numbering, isNumbered }),
        ),
      ),
    ),
    ...Object.entries(numberings).flatMap(([name, numbering]) =>
      innermost.length < 2
        ? []
        : growing(`${innermost.join(', ')}: more, ${name}`, (count) =>
            growLists(root, innermost, { count, numbering, isNumbered }),
          ),
    ),
    ...objects.flatMap((path) =>
      Object.entries(members).map(([name, member]) =>
        growing(`${path || '(body)'}: ${name}`, (count) => growObject(root, path, { count, member })),
      ),
    ),
    ...strings.flatMap((path) =>
      Object.entries(texts).map(([name, unit]) =>
        growing(`${path}: a text of ${name}`, (count) => growText(root, path, unit.repeat(count))),
      ),
    ),
  ];
}

function write(value: Json): string {
  return JSON.stringify(value).replaceAll(escaped, '\\u006b');
}

/** A path has no indexes: all lists of a path grow together, as the calls of one turn and their results in the next. */
const below = (path: string, key: string | number) => {
  const name = typeof key === 'number' ? '*' : key;
  return path === '' ? name : `${path}.${name}`;
};

interface Places {
  readonly lists: readonly { readonly path: string; readonly isNumbered: boolean }[];
  readonly objects: readonly string[];
  readonly strings: readonly string[];
}

function placesIn(root: Json, isNumbered: IsNumbered): Places {
  const lists = new Map<string, boolean>();
  const objects = new Set<string>();
  const strings = new Set<string>();
  const visit = (value: Json, path: string): void => {
    if (typeof value === 'string') strings.add(path);
    else if (Array.isArray(value)) {
      if (value.length > 0) lists.set(path, lists.get(path) === true || holdsIds(value, isNumbered));
      for (const each of value as readonly Json[]) visit(each, below(path, 0));
    } else if (isObject(value)) {
      objects.add(path);
      for (const [key, each] of Object.entries(value)) visit(each, below(path, key));
    }
  };
  visit(root, '');
  return {
    lists: [...lists].map(([path, hasIds]) => ({ path, isNumbered: hasIds })),
    objects: [...objects],
    strings: [...strings],
  };
}

function holdsIds(value: Json, isNumbered: IsNumbered): boolean {
  if (typeof value === 'string') return isNumbered(value);
  const inner = typeof value === 'object' && value !== null ? Object.values<Json>(value) : [];
  return inner.some((each) => holdsIds(each, isNumbered));
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function rebuild(value: Json, path: string, change: (value: Json, path: string) => Json | undefined): Json {
  const changed = change(value, path);
  if (changed !== undefined) return changed;
  if (Array.isArray(value))
    return (value as readonly Json[]).map((each) => rebuild(each, below(path, 0), change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, rebuild(each, below(path, key), change)]),
  );
}

interface Growing {
  readonly count: number;
  readonly numbering: Numbering;
  readonly isNumbered: IsNumbered;
}

function growLists(root: Json, paths: readonly string[], { count, numbering, isNumbered }: Growing): Json {
  let list = -1;
  return rebuild(root, '', (value, at) => {
    if (!paths.includes(at) || !Array.isArray(value) || value.length === 0) return undefined;
    list += 1;
    const own = list;
    const times = Math.max(1, Math.ceil(count / value.length));
    return Array.from({ length: times }, (_, element) =>
      (value as readonly Json[]).map((each) => renumber(each, numbering(element, times, own), isNumbered)),
    ).flat();
  });
}

function renumber(value: Json, number: string, isNumbered: IsNumbered): Json {
  return rebuild(value, '', (each) => {
    if (typeof each !== 'string' || !isNumbered(each)) return undefined;
    return each.replace(/(?:_\d+)?$/, `_${number}`);
  });
}

function growObject(
  root: Json,
  path: string,
  { count, member }: { readonly count: number; readonly member: (at: number) => readonly [string, Json] },
): Json {
  let isGrown = false;
  return rebuild(root, '', (value, at) => {
    if (at !== path || !isObject(value) || isGrown) return undefined;
    isGrown = true;
    return { ...value, ...Object.fromEntries(Array.from({ length: count }, (_, index) => member(index))) };
  });
}

function growText(root: Json, path: string, text: string): Json {
  let isGrown = false;
  return rebuild(root, '', (value, at) => {
    if (at !== path || typeof value !== 'string' || isGrown) return undefined;
    isGrown = true;
    return text;
  });
}
