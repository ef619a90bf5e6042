import type { JsonDocument } from '../json/json-document.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import type { Pattern } from './automaton/patterns.ts';
import { collectValues, type MaskedValues, noValues } from './mask/masked-values.ts';
import { Masking } from './mask/masking.ts';
import type { Placeholders } from './mask/placeholders.ts';
import { type Mask, matchesOfRule, Plan } from './redact/redact.ts';
import { createRedactable } from './redact/redactable.ts';
import type { RuleInputs } from './rule-inputs.ts';
import type { CompiledRule } from './rules/compile-rule.ts';
import { type Place, placeInRequest } from './traverse/place.ts';

export type Replaced =
  | { readonly kind: 'replaced'; readonly document: JsonDocument; readonly masked: MaskedValues }
  | { readonly kind: 'impossible'; readonly rule: CompiledRule; readonly at: string };

/**
 * Replaces what some rules found: by `[REDACTED:reason]`, or by a placeholder if the rule masks. Only the bytes of the
 * strings that change are rewritten. What must not change (signed thinking, ids, names, schemas, keys, numbers) makes it
 * impossible.
 */
export function replaceMatches(
  rules: readonly CompiledRule[],
  inputs: RuleInputs,
  placeholders: Placeholders | undefined,
): Replaced {
  const masking = placeholders && new Masking(placeholders);
  const planned = plan(rules, inputs, masking);
  if (!(planned instanceof Plan)) return planned;
  inputs.checkpoint();
  const document = parseStrictJson(planned.apply());
  const rule = rules.find(({ action }) => action === 'mask');
  if (masking === undefined || rule === undefined) return { kind: 'replaced', document, masked: noValues };
  inputs.checkpoint();
  const everywhere = masking.everywhere(document);
  if ('fixed' in everywhere) return { kind: 'impossible', rule, at: document.pointer(everywhere.fixed) };
  const { body } = everywhere;
  const masked = collectValues(masking.values);
  return { kind: 'replaced', document: body === document.bytes ? document : parseStrictJson(body), masked };
}

function plan(
  rules: readonly CompiledRule[],
  inputs: RuleInputs,
  masking: Masking | undefined,
): Plan | Extract<Replaced, { kind: 'impossible' }> {
  const { document } = inputs.subject;
  const isRedactable = createRedactable(document);
  const planned = new Plan(document, (place) => !isRedactable(place));
  let inText: Extract<Replaced, { kind: 'impossible' }> | undefined;
  for (const rule of rules) {
    const { except } = rule;
    const label = `[REDACTED:${rule.reason}]`;
    const masks = new Map<Pattern, Mask | undefined>();
    for (const match of matchesOfRule(rule, inputs)) {
      const pattern = inputs.pattern(match.pattern);
      if (rule.action === 'mask' && !masks.has(pattern)) masks.set(pattern, masking?.maskOf(rule, pattern));
      const mask = masks.get(pattern);
      const problem = planned.add({ match, pattern, texts: inputs.texts, except, label, mask });
      if (problem === undefined) continue;
      const outer = placeInRequest(problem);
      const impossible = { kind: 'impossible', rule, at: document.pointer(outer.entry) } as const;
      // A key or a number of a JSON text, or a reading of one: the text around it may hold the match as well.
      if (outer === problem || isEncoded(problem) || !isRedactable(outer)) return impossible;
      inText ??= impossible;
    }
  }
  return inText !== undefined && planned.isEmpty ? inText : planned;
}

/** Whether a text is not to be seen in the request itself, because it is base64 or the like there. */
function isEncoded(place: Place): boolean {
  if (place.isDecoded === true && place.isUnescaped !== true) return true;
  return place.outer !== undefined && isEncoded(place.outer);
}
