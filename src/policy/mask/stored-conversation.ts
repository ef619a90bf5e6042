import { type JsonDocument, kinds } from '../../json/json-document.ts';
import type { Verdict } from '../rule.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import { isTopReference } from '../traverse/unseen.ts';

/** The fields that go on with a conversation that a provider keeps. */
const fields = ['previous_response_id', 'conversation', 'thread'];

/**
 * The verdict on a request that goes on with a conversation that its provider keeps, if a rule masks: what was masked in
 * it earlier is not in this request, and could not be restored in the answer.
 */
export function storedConversation(
  rules: readonly CompiledRule[],
  document: JsonDocument,
): readonly Verdict[] {
  const rule = rules.find(({ action, mode }) => action === 'mask' && mode === 'enforce');
  const name = rule === undefined ? undefined : fieldOf(document);
  if (rule === undefined || name === undefined) return [];
  return [
    {
      policy: rule.policy,
      rule: rule.id,
      action: 'block',
      mode: 'enforce',
      reason: 'content.stored_conversation',
      message: `${name}: a value that is masked can be restored only in the answer to a request that holds it; send the whole conversation instead`,
      matches: [{ at: `/${name}`, matcher: 'content', count: 1 }],
    },
  ];
}

function fieldOf(document: JsonDocument): string | undefined {
  return fields.find((name) => {
    const entry = document.member(document.root, name);
    if (entry === undefined || document.kind(entry) === kinds.null) return false;
    return name === 'previous_response_id' || isTopReference(document, name, entry);
  });
}
