import { createHash } from 'node:crypto';
import { type Host, hostNames } from '../../hosts/find-host.ts';

/**
 * Values that a host expects back unchanged and that are opaque to all others: the signature of a thought, encrypted
 * reasoning, the signature of a call. It travels through the client in a slot that the client's dialect has for such
 * things, and goes back to the host that it is from, and to no other.
 */
export interface Seal {
  /** Where it is from; absent in an answer, which is from the host that the request went to. */
  readonly host?: Host;
  readonly of: 'thought' | 'call';
  readonly data: string;
}

const mark = 'gw1';

/** What every seal begins with. */
export const sealStart = `${mark}-`;

/**
 * In the signed slot of a thought that its host doesn't sign. Clients send no thought back whose slot is empty, and its
 * vendor refuses one (translation/foreign-seals.ts).
 */
export const openThought = `${mark}-open`;

/**
 * The same for a slot that holds bytes, as Gemini's signatures: some of Google's SDKs refuse an answer in which it is not
 * base64.
 */
export const bytesSlot = {
  write: (text: string) => Buffer.from(text, 'latin1').toString('base64'),
  read: (slot: string) => Buffer.from(slot, 'base64').toString('latin1'),
  /** What it is for a thought or call that its host doesn't sign, and what all begin with. */
  open: Buffer.from(openThought).toString('base64'),
  start: Buffer.from(sealStart).toString('base64').slice(0, 5),
};

/** Whether a slot was filled here, and not by the vendor of the client's dialect. */
export function isOurSeal(text: string): boolean {
  return text === openThought || parseSeal(text) !== undefined;
}

const form = /^gw1-([a-z]+)-([a-z]+)-([\w-]*)$/;

/** As clients get it and send it back: letters, digits, `-` and `_` alone. */
export function sealText({ of, data }: Seal, { host }: { readonly host: Host }): string {
  return [mark, host, of, Buffer.from(data).toString('base64url')].join('-');
}

/** The seal if it is from this host. */
export function sealFor(seal: Seal | undefined, { host }: { readonly host: Host }): Seal | undefined {
  return seal?.host === host ? seal : undefined;
}

/** Undefined for what is not of `sealText`, such as a vendor's own signature. */
export function parseSeal(text: string): Seal | undefined {
  const [, name = '', of, data = ''] = form.exec(text) ?? [];
  const host = [...hostNames, 'local', 'unknown'].find((each) => each === name) as Host | undefined;
  if (host === undefined || (of !== 'thought' && of !== 'call')) return undefined;
  return { host, of, data: Buffer.from(data, 'base64url').toString() };
}

/**
 * Google's word for a call that has no signature because it came from elsewhere
 * (ai.google.dev/gemini-api/docs/thought-signatures).
 */
export const unsigned = 'skip_thought_signature_validator';

const digestLength = 8;

/** A digest of a thought whose text comes in pieces. */
export function createThoughtDigest(): { add(text: string): void; end(): string } {
  const hash = createHash('sha256');
  return {
    add: (text) => void hash.update(text),
    end: () => hash.digest('hex').slice(0, digestLength),
  };
}

/** A signature that is valid for one text only, so that a text that a client has changed is not sent with it. */
export function signedText(digest: string, signature: string): string {
  return digest + signature;
}

/** The signature of a text; undefined if it is of another text. */
export function signatureOf(text: string, data: string): string | undefined {
  return data.startsWith(digestOf(text)) ? data.slice(digestLength) : undefined;
}

export function digestOf(text: string): string {
  const digest = createThoughtDigest();
  digest.add(text);
  return digest.end();
}
