import { createHmac, timingSafeEqual } from 'node:crypto';

/** Random hexadecimal digits of whoever asks, so that no answer can be used twice. */
export const challengeHeader = 'x-gateway-challenge';
/** The gateway's answer to a challenge. */
export const proofHeader = 'x-gateway-proof';
/** By which whoever asks proves the same in turn. */
export const ownerHeader = 'x-gateway-owner';

interface Claim {
  /** Known to those alone who can read the user's state file. */
  readonly secret: string;
  readonly side: 'gateway' | 'owner';
  /** As the state file has it: a proof for one address is none for another. */
  readonly url: string;
  readonly challenge: string;
}

export function isChallenge(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f]{32}$/.test(text);
}

/** What only a holder of the secret can answer. */
export function prove({ secret, side, url, challenge }: Claim): string {
  return createHmac('sha256', secret).update(`${side}\n${url}\n${challenge}`).digest('hex');
}

export function isProof(given: string | undefined, claim: Claim): boolean {
  const expected = Buffer.from(prove(claim));
  const actual = Buffer.from(given ?? '');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
