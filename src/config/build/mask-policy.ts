import type { DetectorName } from '../../policy/detectors/names.ts';
import { policySchema } from '../../policy/rules/schema.ts';
import type { Settings } from '../schema/schema.ts';

const maskPolicyName = 'mask-option';

/** The settings with one more policy for all, which masks what these detectors find. */
export function withMaskPolicy(settings: Settings, detectors: readonly DetectorName[]): Settings {
  const when = { text: { detect: detectOf(detectors) } };
  const rule = { id: maskPolicyName, action: 'mask', when, reason: 'content.masked' };
  const policy = policySchema.parse({ apply: 'all', rules: [rule] });
  return { ...settings, policies: { ...settings.policies, [maskPolicyName]: policy } };
}

/** How a rule that masks asks for them: for secrets also on suspicion, since a false alarm is restored in the answer. */
export function detectOf(
  detectors: readonly DetectorName[],
): readonly (DetectorName | { readonly secrets: 'possible' })[] {
  return detectors.map((name) => (name === 'secrets' ? { secrets: 'possible' } : name));
}
