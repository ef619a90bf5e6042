import type { Detector } from '../detectors/detector.ts';
import { createGatewayKeyDetector } from '../detectors/secrets/gateway-key.ts';
import { text } from '../matchers/text.ts';
import type { CompiledRule, RuleTools } from './compile-rule.ts';

/** The name of the policy that is always on. */
export const builtInPolicy = 'built-in';

/**
 * The detector of gateway keys and of the configured secrets. The automata know the secrets as phrases, so that
 * texts without one are not read a second time.
 */
export function createKeyDetector(secrets: readonly string[]): Detector {
  const literals = ['gw_', ...secrets.filter((secret) => secret.length > 0)];
  return { ...createGatewayKeyDetector(secrets), folded: true, prefilter: { kind: 'literals', literals } };
}

/** Keys of this gateway and of the configured providers never leave in a request, whatever the policies are. */
export function createKeyRule(tools: RuleTools): CompiledRule {
  const id = 'gateway-key';
  const options = { detect: ['gateway_key' as const], match: 'folded' as const };
  const condition = text.compile(options, { ...tools, quantifier: 'any', except: [], problem: () => {} });
  return {
    policy: builtInPolicy,
    id,
    action: 'block',
    mode: 'enforce',
    reason: 'content.gateway_key',
    message: 'the request holds a key of the gateway or of a provider',
    when: [condition],
    unless: undefined,
    except: [],
    appliesTo: ['request'],
    options: { id, action: 'block', when: { text: options }, apply_to: ['request'] },
  };
}
