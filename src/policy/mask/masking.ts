import type { JsonDocument } from '../../json/json-document.ts';
import type { Pattern } from '../automaton/patterns.ts';
import { detectorNames } from '../detectors/names.ts';
import { createRedactable } from '../redact/redactable.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import { findKnownValues } from './known-values.ts';
import type { Placeholders } from './placeholders.ts';

/** Masks the values of one pass over a request, and remembers them. */
export class Masking {
  readonly values = new Map<string, string>();
  readonly #placeholders: Placeholders;
  readonly #known = new Map<string, string>();
  /** What was found because of what is around it; other values are found wherever they are. */
  readonly #detected = new Map<string, string>();
  #hasCollided = false;

  constructor(placeholders: Placeholders) {
    this.#placeholders = placeholders;
  }

  /** Whether two values had the same placeholder, so that neither could be restored. */
  get hasCollided(): boolean {
    return this.#hasCollided;
  }

  /** What replaces the values that a pattern of a rule finds. */
  maskOf(rule: CompiledRule, pattern: Pattern): (value: string) => string {
    const kind = kindOfMatch(rule, pattern);
    if (pattern.kind !== 'detector' || selfEvident.has(pattern.name))
      return (value) => this.#mask(kind, value);
    return (value) => {
      const placeholder = this.#mask(kind, value);
      this.#detected.set(value, placeholder);
      return placeholder;
    };
  }

  /**
   * Masks what detectors found in a request wherever else it is there. Returns the place where that would break the
   * request, if there is one.
   */
  everywhere(document: JsonDocument): { readonly body: Buffer } | { readonly fixed: number } {
    const found = findKnownValues(document, this.#detected);
    const isRedactable = createRedactable(document);
    const fixed = found.find(({ entry }) => !isRedactable({ document, entry }));
    if (fixed !== undefined) return { fixed: fixed.entry };
    const { bytes } = document;
    const parts = found.flatMap(({ start, placeholder }, at) => [
      bytes.subarray(found[at - 1]?.end ?? 0, start),
      Buffer.from(placeholder),
    ]);
    return {
      body: parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(found.at(-1)?.end)]),
    };
  }

  #mask(kind: string, value: string): string {
    const key = `${kind}\n${value}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const placeholder = this.#placeholders.of(kind, value);
    const other = this.values.get(placeholder);
    if (other !== undefined && other !== value) this.#hasCollided = true;
    this.values.set(placeholder, value);
    this.#known.set(key, placeholder);
    return placeholder;
  }
}

/** The kind of what a rule's pattern finds: the rule's own, the detector's, or the last word of the rule's reason. */
function kindOfMatch({ options: { placeholder }, reason }: CompiledRule, pattern: Pattern): string {
  if (placeholder !== undefined) return placeholder;
  return pattern.kind === 'detector' ? kindOfDetector(pattern.name) : kindOfReason(reason);
}

/** Every kind that rules may give. */
export function kindsOfRules(
  rules: readonly { readonly placeholder?: string | undefined; readonly reason?: string | undefined }[],
): readonly string[] {
  const own = rules.flatMap(({ placeholder, reason }) => [
    ...(placeholder === undefined ? [] : [placeholder]),
    ...(reason === undefined ? [] : [kindOfReason(reason)]),
  ]);
  return [...new Set([...detectorNames.map(kindOfDetector), kindOfReason(''), ...own])];
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
