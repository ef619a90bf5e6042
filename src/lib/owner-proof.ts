/**
 * How a command verifies that the listener at the address in the user's state file is the gateway that wrote the file: it
 * sends one secret from the file and expects the other. Somebody who has taken a dead gateway's port learns the first
 * one, but the only process that would answer it with the second is gone.
 *
 * Not an HMAC of a nonce: loading the cryptography would be a tenth of the time that `send` takes.
 */
export interface OwnerProof {
  readonly challenge: string;
  readonly answer: string;
}

export const challengeHeader = 'x-gateway-challenge';
export const answerHeader = 'x-gateway-answer';
