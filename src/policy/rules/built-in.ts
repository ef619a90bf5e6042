import { hash } from 'node:crypto';
import { type Detector, defaultConfidence } from '../detectors/detector.ts';
import { createGatewayKeyDetector } from '../detectors/secrets/gateway-key.ts';
import { searchFor } from '../matchers/text.ts';
import { everyRole } from '../traverse/place.ts';
import type { CompiledRule } from './compile-rule.ts';

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
  secrets: readonly string[],
  keyHashes: readonly string[],
): readonly CompiledRule[] {
  const known = new Set(keyHashes);
  const isKnown = (key: string) => known.has(hash('sha256', key, 'hex'));
  const rule = (given: Pick<CompiledRule, 'id' | 'action' | 'message'>, detector: Detector): CompiledRule => {
    const { id, action } = given;
    const confidence = defaultConfidence;
    const pattern = { kind: 'detector', name: 'gateway_key', confidence, detector } as const;
    return {
      ...given,
      policy: builtInPolicy,
      mode: 'enforce',
      reason: 'content.gateway_key',
      when: [searchFor([{ key: `detector ${id}`, pattern }], everyRole, [])],
      unless: undefined,
      except: [],
      appliesTo: ['request'],
      options: {
        id,
        action,
        when: { text: { detect: ['gateway_key'], match: 'folded' } },
        apply_to: ['request'],
      },
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
