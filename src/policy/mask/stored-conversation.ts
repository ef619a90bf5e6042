import { type JsonDocument, kinds } from '../../json/json-document.ts';
import type { Verdict } from '../rule.ts';
import type { CompiledRule } from '../rules/compile-rule.ts';
import { isItemReference, isTopReference } from '../traverse/unseen.ts';

/** The fields that go on with a conversation that a provider keeps, and where a client sends its turns instead. */
const fields = { previous_response_id: 'input', conversation: 'input', thread: 'messages' } as const;
type Field = keyof typeof fields;

interface Stored {
  readonly name: string;
  readonly at: string;
  /** Where the client sends what is stored instead. */
  readonly turns: string;
}

/**
 * The verdict on a request that goes on with a conversation that its provider keeps, if a rule masks: what was masked in
 * it earlier is not in this request, and could not be restored in the answer.
 */
export function storedConversation(
  rules: readonly CompiledRule[],
  document: JsonDocument,
): readonly Verdict[] {
  const rule = rules.find(({ action, mode }) => action === 'mask' && mode === 'enforce');
  const stored = rule === undefined ? undefined : storedIn(document);
  if (rule === undefined || stored === undefined) return [];
  const { name, at, turns } = stored;
  return [
    {
      policy: rule.policy,
      rule: rule.id,
      action: 'block',
      mode: 'enforce',
      reason: 'content.stored_conversation',
      message: `${name}: rule ${rule.id} masks, and a value that it masked in an earlier turn can be restored only if that turn is in this request. Leave ${name} out and send the whole conversation instead: each earlier turn and its answer, then the new one, in "${turns}". Or give the rule "action: redact", which restores nothing`,
      matches: [{ at, matcher: 'content', count: 1 }],
    },
  ];
}

function storedIn(document: JsonDocument): Stored | undefined {
  const field = fieldOf(document);
  if (field !== undefined) return { name: field, at: `/${field}`, turns: fields[field] };
  const item = referenceIn(document);
  return item === undefined
    ? undefined
    : { name: 'item_reference', at: document.pointer(item), turns: 'input' };
}

/** An item of the input that only its provider knows. */
function referenceIn(document: JsonDocument): number | undefined {
  const input = document.member(document.root, 'input');
  if (input === undefined || document.kind(input) !== kinds.array) return undefined;
  for (const item of document.elements(input)) {
    if (document.kind(item) === kinds.object && isItemReference(document, item)) return item;
  }
  return undefined;
}

function fieldOf(document: JsonDocument): Field | undefined {
  return (Object.keys(fields) as Field[]).find((name) => {
    const entry = document.member(document.root, name);
    if (entry === undefined || document.kind(entry) === kinds.null) return false;
    return name === 'previous_response_id' || isTopReference(document, name, entry);
  });
}
