/**
 * How a command finds out that who listens at the address in the user's state file is the gateway that left the
 * file: it sends one secret of the file and expects the other. Whoever has a dead gateway's port learns the first,
 * and nobody is left who would answer it with the second.
 *
 * Not an HMAC of a nonce: loading the cryptography would be a tenth of the time that `send` takes.
 */
export interface OwnerProof {
  readonly challenge: string;
  readonly answer: string;
}

export const challengeHeader = 'x-gateway-challenge';
export const answerHeader = 'x-gateway-answer';
