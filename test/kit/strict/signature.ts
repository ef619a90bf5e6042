import { createHash } from 'node:crypto';

const prefix = 'sandbox.';

/** The signature of a thinking block; a replayed block must carry the one that matches its text. */
export function signThinking(thinking: string): string {
  return prefix + createHash('sha256').update(thinking).digest('base64');
}

export function isOwnSignature(signature: string): boolean {
  return signature.startsWith(prefix);
}
