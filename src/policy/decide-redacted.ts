import type { JsonDocument } from '../json/json-document.ts';
import { joinValues, noValues } from './mask/masked-values.ts';
import { type Block, type Decision, type Pass, type Verdict, withholds } from './rule.ts';

/** Most redactions of one request; what still matches after the last one can't be redacted. */
const roundLimit = 3;

/**
 * The decision on a redacted request. It is decided on again like any other, because removing a text may join what was
 * around it. `decide` is called until nothing more has to be redacted; if that takes too many passes, the request is
 * refused.
 */
export function decideRedacted(
  first: Pass,
  decide: (document: JsonDocument, redactedBy: readonly string[]) => Decision,
): Decision {
  let verdicts = first.verdicts;
  let document = first.redacted;
  let masked = first.masked ?? noValues;
  for (let round = 1; document !== undefined; round += 1) {
    const next = decide(document, redactingPolicies(verdicts));
    const changing = next.verdicts.filter(isChanging);
    verdicts = [...verdicts, ...changing];
    if (next.action === 'block') return { ...next, verdicts };
    if (next.redacted === undefined) {
      return { ...first, verdicts, redacted: document, ...(masked.size === 0 ? {} : { masked }) };
    }
    const all = joinValues(masked, next.masked ?? noValues);
    if (round === roundLimit || all === undefined) return unredactable(first, verdicts, changing[0]);
    document = next.redacted;
    masked = all;
  }
  return first;
}

/** Policies with a rule that redacted: that rule has decided, although what it matched is no longer there. */
function redactingPolicies(verdicts: readonly Verdict[]): readonly string[] {
  return verdicts.filter(isChanging).map(({ policy }) => policy);
}

function isChanging({ action, mode }: Verdict): boolean {
  return mode === 'enforce' && withholds(action);
}

function unredactable(
  { wouldBlock, unseen }: Pass,
  verdicts: readonly Verdict[],
  left: Verdict | undefined,
): Block {
  const rule = left?.rule ?? 'policy';
  const message =
    left?.message ?? `rule ${rule} found something that must not be sent and cannot be redacted`;
  const at = left?.matches[0]?.at;
  const refusal = { rule, reason: 'content.unredactable', message, ...(at === undefined ? {} : { at }) };
  return { action: 'block', verdicts, wouldBlock, unseen, refusal };
}
