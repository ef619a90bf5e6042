import { type FailureCode, GatewayError } from '../errors.ts';

/** Why a host gave no whole answer. */
export interface HostFailure {
  readonly kind: 'unreachable' | 'slow connect' | 'slow head' | 'slow body' | 'large head' | 'broken';
  readonly cause: Error;
}

const messages: Readonly<Record<HostFailure['kind'], readonly [FailureCode, string]>> = {
  unreachable: ['provider.unreachable', "the provider can't be reached"],
  'slow connect': ['provider.unreachable', 'the provider did not accept a connection in time'],
  'slow head': ['provider.timeout', 'the provider took too long to answer'],
  'slow body': ['provider.timeout', 'the provider took too long to answer'],
  'large head': ['provider.broken_response', "the provider's headers are too large"],
  broken: ['provider.broken_response', 'the provider cut its answer short, or sent what is no HTTP answer'],
};

/** What the exchange fails with. */
export function hostError({ kind, cause }: HostFailure): GatewayError {
  const [code, message] = messages[kind];
  return new GatewayError(code, message, { cause });
}
