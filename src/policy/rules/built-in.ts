import { hash } from 'node:crypto';
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
export function createKeyDetector(secrets: readonly string[], isMeant?: (key: string) => boolean): Detector {
  const literals = ['gw_', ...secrets.filter((secret) => secret.length > 0)];
  return {
    ...createGatewayKeyDetector(secrets, isMeant),
    folded: true,
    prefilter: { kind: 'literals', literals },
  };
}

/**
 * Keys of this gateway (by their hashes, in hexadecimal) and of the configured providers never leave in a request,
 * whatever the policies are. Other gateways' keys are only replaced: a refusal would end a conversation for good, since
 * every later turn has the key again, and nobody here can say whose it is.
 */
export function createKeyRules(
  { secrets, keyHashes }: { readonly secrets: readonly string[]; readonly keyHashes: readonly string[] },
  tools: RuleTools,
): readonly CompiledRule[] {
  const known = new Set(keyHashes);
  const isKnown = (key: string) => known.has(hash('sha256', key, 'hex'));
  const rule = (given: Pick<CompiledRule, 'id' | 'action' | 'message'>, detector: Detector): CompiledRule => {
    const { id, action } = given;
    const options = { detect: ['gateway_key' as const], match: 'folded' as const };
    const ownTools = { ...tools, detector: () => ({ ...detector, variant: id }), quantifier: 'any' as const };
    return {
      ...given,
      policy: builtInPolicy,
      mode: 'enforce',
      reason: 'content.gateway_key',
      when: [text.compile(options, { ...ownTools, except: [], problem: () => {} })],
      unless: undefined,
      except: [],
      appliesTo: ['request'],
      options: { id, action, when: { text: options }, apply_to: ['request'] },
    };
  };
  return [
    rule(
      {
        id: 'gateway-key',
        action: 'block',
        message: 'the request holds a key of this gateway or of a provider',
      },
      createKeyDetector(secrets, isKnown),
    ),
    rule(
      { id: 'unknown-gateway-key', action: 'redact', message: 'the request holds a key of another gateway' },
      createKeyDetector([], (key) => !isKnown(key)),
    ),
  ];
}
