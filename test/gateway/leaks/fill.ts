import { bytesSlot, parseSeal, sealText } from '../../../src/dialects/translation/seals.ts';
import { escaped } from '../bypass/case.ts';
import type { Thing } from './forbidden.ts';
import { type Body, sealedData } from './shapes.ts';

type Path = readonly (string | number)[];

/** The same request with a thing and with its harmless twin; each is written when it is asked for. */
export interface Pair {
  readonly thing: Thing;
  /** How it was put in. */
  readonly form: 'whole' | 'escaped' | 'key' | 'neighbours' | 'over one' | 'twins';
  readonly at: string;
  /** Whether it stands in a seal, which is opened for the host that it names. */
  readonly isSealed: boolean;
  readonly forbidden: string;
  readonly harmless: string;
}

/** Every way to put a thing into a shape: into each string, as a key of each object, parted over each two strings. */
export function* fill(shape: Body, thingFor: (number: number) => Thing): Generator<Pair> {
  const leaves = [...stringsOf(shape)].filter(({ path }) => path[0] !== 'model');
  let number = 0;
  const next = () => thingFor(number++);
  for (const [at, leaf] of leaves.entries()) {
    const where = name(leaf.path);
    const isSealed = sealIn(leaf.value) !== undefined;
    const place = { at: where, isSealed };
    const put = (text: string) => JSON.stringify(replace(shape, leaf.path, encodeAs(leaf.value, text)));
    yield whole({ thing: next(), form: 'whole', ...place }, put);
    yield whole({ thing: next(), form: 'escaped', ...place }, (text) =>
      put(text).replaceAll(text, () => escaped(text)),
    );
    for (const [form, distance] of [
      ['neighbours', 1],
      ['over one', 2],
    ] as const) {
      const neighbour = leaves[at + distance];
      if (neighbour === undefined) continue;
      const how = { thing: next(), form, at: `${where} and ${name(neighbour.path)}`, isSealed };
      yield parted(how, number, (first, second) => {
        const begun = replace(shape, leaf.path, encodeAs(leaf.value, first));
        return replace(begun, neighbour.path, encodeAs(neighbour.value, second));
      });
    }
    const twins = twinsOf(shape, leaf.path);
    if (twins === undefined) continue;
    yield parted({ thing: next(), form: 'twins', ...place }, number, (first, second) =>
      twins(encodeAs(leaf.value, first), encodeAs(leaf.value, second)),
    );
  }
  for (const path of objectsOf(shape)) {
    const how = { thing: next(), form: 'key', at: name(path), isSealed: false } as const;
    yield whole(how, (key) => JSON.stringify(replace(shape, [...path, key], 'x')));
  }
}

type How = Omit<Pair, 'forbidden' | 'harmless'>;

function pairOf(how: How, forbidden: () => string, harmless: () => string): Pair {
  return {
    ...how,
    get forbidden() {
      return forbidden();
    },
    get harmless() {
      return harmless();
    },
  };
}

function whole(how: How, put: (text: string) => string): Pair {
  return pairOf(
    how,
    () => put(how.thing.text),
    () => put(how.thing.harmless),
  );
}

function parted(how: How, number: number, put: (first: string, second: string) => unknown): Pair {
  const { halves, harmless } = how.thing;
  const half = halves[number % halves.length] as readonly [string, string];
  const middle = harmless.length >> 1;
  return pairOf(
    how,
    () => JSON.stringify(put(...half)),
    () => JSON.stringify(put(harmless.slice(0, middle), harmless.slice(middle))),
  );
}

function name(path: Path): string {
  return `/${path.join('/')}`;
}

/** The text as the string that stood there was written: base64, a data URL, a seal, JSON, or as it is. */
function encodeAs(before: string, text: string): string {
  const base64 = Buffer.from(text).toString('base64');
  if (before.startsWith('data:text/plain;base64,')) return `data:text/plain;base64,${base64}`;
  if (before === Buffer.from('plain text').toString('base64')) return base64;
  if (before.startsWith('{"')) return JSON.stringify({ place: text });
  return sealIn(before)?.write(text) ?? text;
}

/** How a seal is written with a text in place of what its host signed; undefined if the slot has none. */
function sealIn(slot: string): { write(text: string): string } | undefined {
  const inText = parseSeal(slot);
  const { origin, of, data } = inText ?? parseSeal(bytesSlot.read(slot)) ?? {};
  if (origin === undefined || of === undefined || data === undefined) return undefined;
  return {
    write(text) {
      const written = data.startsWith('{') ? JSON.stringify(text).slice(1, -1) : text;
      const seal = sealText({ of, data: data.replace(sealedData, () => written) }, { origin });
      return inText === undefined ? bytesSlot.write(seal) : seal;
    },
  };
}

function* stringsOf(
  value: unknown,
  path: Path = [],
): Generator<{ readonly path: Path; readonly value: string }> {
  if (typeof value === 'string') yield { path, value };
  else if (typeof value === 'object' && value !== null) {
    const isList = Array.isArray(value);
    for (const [key, member] of Object.entries(value))
      yield* stringsOf(member, [...path, isList ? Number(key) : key]);
  }
}

function* objectsOf(value: unknown, path: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield path;
  for (const [key, member] of Object.entries(value)) yield* objectsOf(member, [...path, key]);
}

function replace<Value>(value: Value, path: Path, by: unknown): Value {
  const copy = structuredClone(value);
  let container = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) container = container[step] as Record<string | number, unknown>;
  container[path.at(-1) as string] = by;
  return copy;
}

/** The shape with the innermost list element that holds the string twice, one behind the other. */
function twinsOf(shape: Body, path: Path): ((first: string, second: string) => unknown) | undefined {
  const at = path.findLastIndex((step) => typeof step === 'number');
  if (at < 0) return undefined;
  return (first, second) => {
    const [one, other] = [replace(shape, path, first), replace(shape, path, second)];
    const list = path.slice(0, at).reduce<unknown>((found, step) => Object(found)[step], one) as unknown[];
    const twin = path.slice(0, at + 1).reduce<unknown>((found, step) => Object(found)[step], other);
    list.splice((path[at] as number) + 1, 0, twin);
    return one;
  };
}
