import type { JsonDocument } from '../../json/json-document.ts';
import type { Pattern } from '../automaton/patterns.ts';
import { detectorNames } from '../detectors/names.ts';
import { createRedactable } from '../redact/redactable.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import { type Form, shapeOf, shapes, wordForm } from './forms.ts';
import { findKnownValues } from './known-values.ts';
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
    const { bytes } = document;
    const parts = found.flatMap(({ start, placeholder }, at) => [
      bytes.subarray(found[at - 1]?.end ?? 0, start),
      Buffer.from(placeholder),
    ]);
    return {
      body: parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(found.at(-1)?.end)]),
    };
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
