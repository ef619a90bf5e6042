import type { ModelEntry } from '../config/build/models.ts';
import { knownModelName } from '../limits/known-models.ts';
import { memoize } from '../memoize.ts';
import { sandboxModels } from '../sandbox/models.ts';

/** For names that only the client knows. */
const otherModel = 'other';

/**
 * Maps the model name that a client sent to one of a bounded set, for metric labels: a configured name, or that of a
 * well-known model without its date; everything else is `other`.
 */
export function createModelLabel(
  models: readonly Pick<ModelEntry, 'match' | 'isPattern'>[],
): (model: string) => string {
  const configured = models.flatMap(({ match, isPattern }) => (isPattern ? [] : [match]));
  const names = new Set([...configured, ...sandboxModels.map(({ id }) => id)]);
  return memoize((model) => (names.has(model) ? model : (knownModelName(model) ?? otherModel)));
}
