import { applyEdits, type ByteEdit } from '../../json/byte-edits.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { escapeAt } from '../../json/json-progress.ts';
import { ByteSearch } from '../../lib/byte-search.ts';
import { partitionPoint } from '../../lib/partition-point.ts';
import type { Pattern } from '../automaton/patterns.ts';
import { detectorNames } from '../detectors/names.ts';
import { createRedactable } from '../redact/redactable.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import { type Form, formShapes, shapeOf, wordForm } from './forms.ts';
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
  const isNamed = pattern.kind === 'detector' && pattern.name !== 'check';
  return isNamed ? kindOfDetector(pattern.name) : kindOfReason(reason);
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
  return [...[...words].map(wordForm), ...(isShaped ? formShapes : [])];
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
const minLength = 6;
/** Bytes from which on a value is one in the middle of a word too. */
const unmistakable = 16;
/** Longer ones, such as private keys, are found by what they are. */
const maxLength = 512;
/** Most values that begin alike; this bounds the work. */
const maxAlike = 16;
const backslash = 0x5c;

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
  const placeholders = spell(values);
  if (placeholders.size === 0) return [];
  const { bytes } = document;
  const isValue = (_: Buffer, start: number, end: number) =>
    isSeparate(bytes, start, end) &&
    stringAt(document, start, end) !== undefined &&
    !isInEscape(bytes, start);
  const search = new ByteSearch(placeholders.keys(), { accepts: isValue, maxAlike });
  return search.places(bytes).map(({ start, end }) => ({
    start,
    end,
    text: placeholders.get(bytes.toString('utf8', start, end)) ?? '',
    entry: stringAt(document, start, end) ?? document.root,
  }));
}

/** The placeholders of values by how these are written in JSON, in JSON inside JSON, and so on. */
function spell(values: Iterable<readonly [value: string, placeholder: string]>): ReadonlyMap<string, string> {
  const placeholders = new Map<string, string>();
  for (const [value, placeholder] of values) {
    if (value.length < minLength || value.length > maxLength) continue;
    for (const depth of [1, 2, 3]) {
      const form = escapeAt(depth, value);
      if (!placeholders.has(form)) placeholders.set(form, placeholder);
    }
  }
  return placeholders;
}

/** Whether a value is a word of its own, or so long that it is one in the middle of a word too. */
function isSeparate(bytes: Buffer, start: number, end: number): boolean {
  if (end - start >= unmistakable) return true;
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
