import { type JsonDocument, kinds } from '../../json/json-document.ts';
import type { Verdict } from '../rule.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import { isTopReference } from '../traverse/unseen.ts';

/** The fields that go on with a conversation that a provider keeps, and where a client sends its turns instead. */
const fields = { previous_response_id: 'input', conversation: 'input', thread: 'messages' } as const;
type Field = keyof typeof fields;

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
      message: `${name}: rule ${rule.id} masks, and a value that it masked in an earlier turn can be restored only if that turn is in this request. Leave ${name} out and send the whole conversation instead: each earlier turn and its answer, then the new one, in "${fields[name]}". Or give the rule "action: redact", which restores nothing`,
      matches: [{ at: `/${name}`, matcher: 'content', count: 1 }],
    },
  ];
}

function fieldOf(document: JsonDocument): Field | undefined {
  return (Object.keys(fields) as Field[]).find((name) => {
    const entry = document.member(document.root, name);
    if (entry === undefined || document.kind(entry) === kinds.null) return false;
    return name === 'previous_response_id' || isTopReference(document, name, entry);
  });
}
