import { type JsonDocument, kinds } from '../json/json-document.ts';
import { hasDocumentationExample } from './detectors/secrets/examples.ts';
import type { PolicySet } from './policy-set.ts';
import type { CompiledRule } from './rules/compile-rule.ts';

const maxPlaces = 20;

/**
 * The places of texts with a key or a password of documentation, which a rule that looks for secrets passes over; none
 * where no rule does.
 */
export function passedOver(set: PolicySet, document: JsonDocument): readonly string[] {
  if (!set.rules.some(looksForSecrets)) return [];
  const places: string[] = [];
  const visit = (entry: number): void => {
    if (places.length >= maxPlaces) return;
    const kind = document.kind(entry);
    if (kind === kinds.string) {
      if (hasDocumentationExample(document.text(entry))) places.push(document.pointer(entry));
    } else if (kind === kinds.array) for (const element of document.elements(entry)) visit(element);
    else if (kind === kinds.object) {
      for (let key = entry + 1; key < document.next(entry); key = document.next(key + 1)) visit(key + 1);
    }
  };
  visit(document.root);
  return places;
}

function looksForSecrets({ when = [] }: CompiledRule): boolean {
  return when.some(({ text }) =>
    text?.patterns.some(({ pattern }) => pattern.kind === 'detector' && pattern.name === 'secrets'),
  );
}
