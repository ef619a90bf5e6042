import type { DetectorName } from '../../policy/detectors/names.ts';
import { policySchema } from '../../policy/rules/schema.ts';
import type { Settings } from '../schema/schema.ts';

/** The name of sandbox mode's policy. */
export const samplePolicy = 'sandbox-sample';

/** The policies of sandbox mode: enough to see one at work, as a file would have them. */
export const sandboxPolicies = {
  [samplePolicy]: {
    apply: 'all',
    rules: [
      {
        id: 'codename',
        action: 'block',
        when: { text: { phrases: ['project nightfall'] } },
        reason: 'content.codename',
      },
      {
        id: 'secrets',
        action: 'redact',
        when: { text: { detect: ['secrets'] } },
        reason: 'content.secret',
      },
    ],
  },
};

/** Requests that show them, with what happens to each. */
export const sandboxSamples = [
  { prompt: 'when does Project Nightfall start?', result: 'blocked: a code name' },
  { prompt: 'is API_KEY=q8Zr2LxV7nT4wKc9YbHd1mPs right?', result: 'the secret is replaced' },
] as const;

const maskPolicyName = 'mask-option';

/**
 * The settings with one more policy for all, which masks what these detectors find. If that is secrets, the sample of
 * sandbox mode doesn't redact them, since that would win over masking.
 */
export function withMaskPolicy(
  { isSandboxMode, settings }: { readonly isSandboxMode: boolean; readonly settings: Settings },
  detectors: readonly DetectorName[],
): Settings {
  const when = { text: { detect: detectOf(detectors) } };
  const rule = { id: maskPolicyName, action: 'mask', when, reason: 'content.masked' };
  const policy = policySchema.parse({ apply: 'all', rules: [rule] });
  const { [samplePolicy]: sample, ...others } = settings.policies;
  const policies =
    isSandboxMode && sample !== undefined && detectors.includes('secrets')
      ? { ...others, [samplePolicy]: withoutRedaction(sample) }
      : settings.policies;
  return { ...settings, policies: { ...policies, [maskPolicyName]: policy } };
}

function withoutRedaction(policy: Settings['policies'][string]): Settings['policies'][string] {
  return { ...policy, rules: policy.rules.filter(({ action }) => action !== 'redact') };
}

/** How a rule that masks asks for them: for secrets also on suspicion, since a false alarm is restored in the answer. */
export function detectOf(
  detectors: readonly DetectorName[],
): readonly (DetectorName | { readonly secrets: 'possible' })[] {
  return detectors.map((name) => (name === 'secrets' ? { secrets: 'possible' } : name));
}
