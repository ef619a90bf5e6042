import { createHash } from 'node:crypto';

/**
 * Values that a host expects back unchanged and that are opaque to all others: the signature of a thought, encrypted
 * reasoning, the signature of a call. It travels through the client in a slot that the client's dialect has for such
 * things, and goes back to the provider that it is from, and to no other.
 */
export interface Seal {
  /** Where it is from (`sealOrigin`); absent in an answer, which is from where the request went. */
  readonly origin?: string;
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

/** Earlier versions had the name of a kind of host in it, which is the origin of nothing now. */
const form = /^gw1-(\w+)-(thought|call)-([\w-]*)$/;

/**
 * Names a provider in seals: two hosts of one kind, or two accounts at one, can't open what the other has sealed. Of a
 * provider that got another name or address the seals are dropped.
 */
export function sealOrigin({ name, baseUrl }: { readonly name: string; readonly baseUrl: string }): string {
  return createHash('sha256').update(`${name} ${baseUrl}`).digest('hex').slice(0, originLength);
}

const originLength = 12;

/** Where what is sealed comes from or goes to. */
export interface SealContext {
  readonly origin: string;
}

/** As clients get it and send it back: letters, digits, `-` and `_` alone. */
export function sealText({ of, data }: Seal, { origin }: SealContext): string {
  return [mark, origin, of, Buffer.from(data).toString('base64url')].join('-');
}

/** The seal if it is from this provider. */
export function sealFor(seal: Seal | undefined, { origin }: SealContext): Seal | undefined {
  return seal?.origin === origin ? seal : undefined;
}

/** Undefined for what is not of `sealText`, such as a vendor's own signature. */
export function parseSeal(text: string): Seal | undefined {
  const [, origin = '', of, data = ''] = form.exec(text) ?? [];
  if (of !== 'thought' && of !== 'call') return undefined;
  return { origin, of, data: Buffer.from(data, 'base64url').toString() };
}

/**
 * Google's word for a call that has no signature because it came from elsewhere
 * (ai.google.dev/gemini-api/docs/thought-signatures).
 */
export const skipsValidator = 'skip_thought_signature_validator';

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
