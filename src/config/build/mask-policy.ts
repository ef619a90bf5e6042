import type { DetectorName } from '../../policy/detectors/names.ts';
import { policySchema } from '../../policy/rules/schema.ts';
import type { Settings } from '../schema/schema.ts';

/** The name of the policy that `--mask` adds. */
const maskPolicyName = 'mask-option';

/** The settings with one more policy for all, which masks what these detectors find. */
export function withMaskPolicy(settings: Settings, detectors: readonly DetectorName[]): Settings {
  // A false alarm costs nothing: the client gets back what it sent.
  const detect = detectors.map((name) => (name === 'secrets' ? { secrets: 'possible' as const } : name));
  const rule = { id: maskPolicyName, action: 'mask', when: { text: { detect } }, reason: 'content.masked' };
  const policy = policySchema.parse({ apply: 'all', rules: [rule] });
  return { ...settings, policies: { ...settings.policies, [maskPolicyName]: policy } };
}
