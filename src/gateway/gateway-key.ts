import type { KeyLimits } from '../config/build/keys.ts';
import type { PolicySet } from '../policy/policy-set.ts';
import type { KnownKey } from './authenticate.ts';

/** A project key with what applies to it. */
export interface GatewayKey extends KnownKey {
  readonly policies: PolicySet;
  readonly limits?: readonly KeyLimits[];
}
