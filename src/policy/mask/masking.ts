import { applyEdits, type ByteEdit } from '../../json/byte-edits.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { partitionPoint } from '../../lib/partition-point.ts';
import type { Pattern } from '../automaton/patterns.ts';
import { detectorNames } from '../detectors/names.ts';
import { createRedactable } from '../redact/redactable.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import { type Form, shapeOf, shapes, wordForm } from './forms.ts';
import { escapeAt } from './json-depth.ts';
import type { Placeholders } from './placeholders.ts';

/** Masks the values of one pass over a request, and remembers them. */
export class Masking {
  readonly values = new Map<string, string>();
  readonly #placeholders: Placeholders;
  /** What was found because of what is around it; other values are found wherever they are. */
  readonly #detected = new Set<string>();

  constructor(placeholders: Placeholders) {
    this.#placeholders = placeholders;
  }

  /** What replaces the values that a pattern of a rule finds. */
  maskOf(rule: CompiledRule, pattern: Pattern): (value: string) => string {
    const kind = kindOfMatch(rule, pattern);
    const isShaped = rule.options.placeholder === shaped && pattern.kind === 'detector';
    const isDetected = pattern.kind === 'detector' && !selfEvident.has(pattern.name);
    const word = wordForm(kind);
    return (value) => {
      const placeholder = this.#mask(isShaped ? (shapeOf(kind, value) ?? word) : word, value);
      if (isDetected) this.#detected.add(placeholder);
      return placeholder;
    };
  }

  /**
   * Masks what detectors found in a request wherever else it is there. Returns the place where that would break the
   * request, if there is one.
   */
  everywhere(document: JsonDocument): { readonly body: Buffer } | { readonly fixed: number } {
    const found = findKnownValues(document, this.#detectedValues());
    const isRedactable = createRedactable(document);
    const fixed = found.find(({ entry }) => !isRedactable({ document, entry }));
    if (fixed !== undefined) return { fixed: fixed.entry };
    return { body: applyEdits(document.bytes, found) };
  }

  *#detectedValues(): Generator<readonly [value: string, placeholder: string]> {
    for (const placeholder of this.#detected) yield [this.values.get(placeholder) ?? '', placeholder];
  }

  /** No two values have the same: of those whose hashes are the same, the first in the request has it. */
  #mask(form: Form, value: string): string {
    for (let attempt = 0; ; attempt += 1) {
      const placeholder = this.#placeholders.of(form, value, attempt);
      const other = this.values.get(placeholder);
      if (other === undefined) this.values.set(placeholder, value);
      else if (other !== value) continue;
      return placeholder;
    }
  }
}

/** The `placeholder` of a rule by which values become others of their kind. */
const shaped = 'shape';

/** The kind of what a rule's pattern finds: the rule's own, the detector's, or the last word of the rule's reason. */
function kindOfMatch({ options: { placeholder }, reason }: CompiledRule, pattern: Pattern): string {
  if (placeholder !== undefined && placeholder !== shaped) return placeholder;
  return pattern.kind === 'detector' ? kindOfDetector(pattern.name) : kindOfReason(reason);
}

/** Every form that rules may give. */
export function formsOfRules(
  rules: readonly { readonly placeholder?: string | undefined; readonly reason?: string | undefined }[],
): readonly Form[] {
  const own = rules.flatMap(({ placeholder, reason }) => [
    ...(placeholder === undefined || placeholder === shaped ? [] : [placeholder]),
    ...(reason === undefined ? [] : [kindOfReason(reason)]),
  ]);
  const words = new Set([...detectorNames.map(kindOfDetector), kindOfReason(''), ...own]);
  const isShaped = rules.some(({ placeholder }) => placeholder === shaped);
  return [...[...words].map(wordForm), ...(isShaped ? shapes : [])];
}

/** Detectors that need nothing around a value. */
const selfEvident: ReadonlySet<string> = new Set([
  'email',
  'credit_card',
  'iban',
  'ip_address',
  'public_ip_address',
  'mac_address',
  'crypto_wallet',
]);

/** Short, and no word that detectors take for the name of a secret. */
const shortKinds: Readonly<Record<string, string>> = {
  secrets: 'HIDDEN',
  credit_card: 'CARD',
  ip_address: 'IP',
  public_ip_address: 'IP',
  mac_address: 'MAC',
  us_ssn: 'SSN',
};

function kindOfDetector(name: string): string {
  return shortKinds[name] ?? name.toUpperCase();
}

function kindOfReason(reason: string): string {
  const word = (reason.split('.').at(-1) ?? '').toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  return /^[A-Z][A-Z0-9_]{0,30}$/.test(word) ? word.replace(/_+$/, '') : 'VALUE';
}

/** Shorter values are words that occur everywhere. */
const shortest = 6;
/** From this length on, a value is one in the middle of a word too. */
const unmistakable = 16;
/** Longer ones, such as private keys, are found by what they are. */
const longest = 512;
/** Values are looked up by so many of their first bytes. */
const prefixBytes = 24;
/** Most values that begin alike; this bounds the work. */
const mostAlike = 16;
const tableSize = 4_096;
const backslash = 0x5c;

interface Spelling {
  readonly bytes: Buffer;
  readonly placeholder: string;
}

/** A value that stands somewhere unmasked. */
interface KnownValue extends ByteEdit {
  /** The string that it is in. */
  readonly entry: number;
}

/**
 * Where values that were masked in one place of a document stand in others, in which no rule recognizes them: a password
 * is one by its name in a file, and by nothing in the command that a model made with it.
 */
function findKnownValues(
  document: JsonDocument,
  values: Iterable<readonly [value: string, placeholder: string]>,
): readonly KnownValue[] {
  const spellings = spell(values);
  if (spellings.length === 0) return [];
  const { bytes } = document;
  const found: KnownValue[] = [];
  let from = 0;
  for (const { start, candidates } of prefixesIn(bytes, spellings)) {
    if (start < from) continue;
    const match = candidates.find((each) => stands(bytes, start, each.bytes));
    if (match === undefined) continue;
    const end = start + match.bytes.length;
    const entry = stringAt(document, start, end);
    if (entry === undefined || isInEscape(bytes, start)) continue;
    found.push({ start, end, entry, text: match.placeholder });
    from = end;
  }
  return found;
}

/** Each value as it is written in JSON, in JSON inside JSON, and so on. */
function spell(values: Iterable<readonly [value: string, placeholder: string]>): readonly Spelling[] {
  const spellings: Spelling[] = [];
  for (const [value, placeholder] of values) {
    if (value.length < shortest || value.length > longest) continue;
    const forms = new Set([1, 2, 3].map((depth) => escapeAt(depth, value)));
    for (const form of forms) spellings.push({ bytes: Buffer.from(form), placeholder });
  }
  return spellings;
}

interface Candidates {
  readonly start: number;
  readonly candidates: readonly Spelling[];
}

/**
 * Every place where a spelling may begin. It looks at two bytes at a time and skips as many as no spelling has before
 * them (Wu and Manber, 1994), so that a body without any is passed in strides.
 */
function* prefixesIn(bytes: Buffer, spellings: readonly Spelling[]): Generator<Candidates> {
  const length = Math.min(prefixBytes, ...spellings.map((each) => each.bytes.length));
  const strides = new Uint8Array(tableSize).fill(length - 1);
  const byPrefix = new Map<string, Spelling[]>();
  for (const spelling of spellings) {
    const prefix = spelling.bytes.toString('latin1', 0, length);
    const alike = byPrefix.get(prefix);
    if (alike !== undefined) {
      if (alike.length < mostAlike) alike.push(spelling);
      continue;
    }
    byPrefix.set(prefix, [spelling]);
    for (let at = 0; at + 1 < length; at += 1) {
      const pair = pairAt(spelling.bytes, at);
      strides[pair] = Math.min(strides[pair] as number, length - 2 - at);
    }
  }
  // The longest first, in case one is the beginning of another.
  for (const alike of byPrefix.values()) alike.sort((one, other) => other.bytes.length - one.bytes.length);
  for (let at = length - 2; at + 1 < bytes.length; ) {
    const stride = strides[pairAt(bytes, at)] as number;
    if (stride > 0) {
      at += stride;
      continue;
    }
    const start = at - length + 2;
    const candidates = byPrefix.get(bytes.toString('latin1', start, at + 2));
    if (candidates !== undefined) yield { start, candidates };
    at += 1;
  }
}

function pairAt(bytes: Buffer, at: number): number {
  return (((bytes[at] as number) * 31) ^ (bytes[at + 1] as number)) & (tableSize - 1);
}

/** Whether the value is there, as a word of its own unless it is unmistakable. */
function stands(bytes: Buffer, start: number, value: Buffer): boolean {
  const end = start + value.length;
  if (value.compare(bytes, start, end) !== 0) return false;
  if (value.length >= unmistakable) return true;
  return (
    !(isWord(bytes, start - 1) && isWord(bytes, start)) && !(isWord(bytes, end - 1) && isWord(bytes, end))
  );
}

function isWord(bytes: Buffer, at: number): boolean {
  const letter = String.fromCharCode(bytes[at] ?? 0);
  return /\w/.test(letter);
}

/** Whether the byte belongs to an escape: `\n` and a value that begins with n. */
function isInEscape(bytes: Buffer, start: number): boolean {
  let at = start;
  while (bytes[at - 1] === backslash) at -= 1;
  return (start - at) % 2 === 1;
}

/** The string that holds these bytes; entries are in the order of their bytes. */
function stringAt(document: JsonDocument, start: number, end: number): number | undefined {
  const entry = partitionPoint(document.count, (each) => document.start(each) <= start) - 1;
  return document.kind(entry) === kinds.string && document.end(entry) >= end ? entry : undefined;
}
