import { partitionPoint } from '../../partition-point.ts';

/** Where something stands in a text, by offsets. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A scalar, a list or a map of a file. */
export interface Part extends Range {
  /** Of a scalar. */
  readonly text?: string;
  /** Of a map or a list, in the order of the file. */
  readonly entries?: () => Entries;
}

export interface Entries {
  readonly list: readonly Entry[];
  /** By its key or its number. */
  get(step: PropertyKey): Entry | undefined;
}

/** A key and its value, or an entry of a list. */
export interface Entry {
  readonly key?: Part | undefined;
  /** Undefined if nothing is written there, as after `server:` at the end of a line. */
  readonly value?: Part | undefined;
}

/** What a parser makes of a text. */
export interface ParsedText {
  readonly value: unknown;
  readonly root: Part | undefined;
  readonly faults: readonly Fault[];
}

/** Something wrong with a text as YAML. */
export interface Fault {
  readonly message: string;
  /** Undefined if it is the whole. */
  readonly range?: Range;
  readonly hint?: string | undefined;
  /** What the text at its place repeats. */
  readonly repeats?: Range | undefined;
}

/** The entries of a collection; of keys that are there twice the first counts. */
export function entriesOf(list: readonly Entry[], isList: boolean): Entries {
  if (isList) return { list, get: (step) => (typeof step === 'number' ? list[step] : undefined) };
  const byKey = new Map(list.toReversed().map((entry) => [entry.key?.text, entry]));
  return { list, get: (step) => byKey.get(String(step)) };
}

interface Found extends Entry {
  /** False for the nearest parent that is there, when nothing stands at the path itself. */
  readonly isExact: boolean;
}

export function findPart(root: Part | undefined, path: readonly PropertyKey[]): Found {
  let found: Entry = { value: root };
  for (const step of path) {
    const next = found.value?.entries?.().get(step);
    if (next === undefined) return { ...found, isExact: false };
    found = next;
  }
  return { ...found, isExact: true };
}

const secretKey = /key|kye|token|secret|password|value|database|state|proxy/i;
const secretText = /^(?:sk-|gw_)|:\/\/.*@/;

/**
 * What stands in a part of a file and may be secret, misspelt keys included: what is quoted of the file must not show
 * it. A setting that is known to be a number is not, whatever it is called. Looks at no more than reaches to there, so
 * that it can be asked for each of many lines.
 */
export function secretsIn(
  within: Range,
  root: Part | undefined,
  isNumberOrBoolean: (path: readonly PropertyKey[]) => boolean,
): readonly Range[] {
  const secrets: Range[] = [];
  const visit = ({ key, value }: Entry, path: readonly PropertyKey[]): void => {
    if (key?.text !== undefined && secretText.test(key.text)) secrets.push(key);
    if (value === undefined) return;
    const { text, entries } = value;
    if (text !== undefined) {
      const isNamedSo = isSecretKey(key) && mayBeSecret(text) && !isNumberOrBoolean(path);
      if (secretText.test(text) || isNamedSo) secrets.push(value);
    }
    const { list = [] } = entries?.() ?? {};
    // An entry ends before the next one begins; one that is empty stands nowhere.
    const reaches = (i: number) => startOf(list, i) <= within.start;
    for (let i = Math.max(0, partitionPoint(list.length, reaches) - 1); i < list.length; i += 1) {
      if (startOf(list, i) >= within.end) break;
      const entry = list[i] ?? {};
      visit(entry, [...path, entry.key?.text ?? i]);
    }
  };
  visit({ value: root }, []);
  return secrets;
}

/** Where the first entry begins, from a number on, that stands somewhere. */
function startOf(list: readonly Entry[], from: number): number {
  for (let i = from; i < list.length; i += 1) {
    const first = list[i]?.key ?? list[i]?.value;
    if (first !== undefined) return first.start;
  }
  return Number.POSITIVE_INFINITY;
}

function isSecretKey(key: Part | undefined): boolean {
  return key?.text !== undefined && secretKey.test(key.text);
}

function mayBeSecret(text: string): boolean {
  return !/^(?:true|false|null|~|)$/i.test(text) && !/^\$\{[A-Za-z0-9_]*\}$/.test(text);
}
