import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { signedText } from '../contract/session.ts';
import type { SessionStore } from './session-store.ts';

export interface SessionOptions {
  readonly store: SessionStore;
  /** Sessions are valid for one address only. */
  readonly port: () => number;
  readonly nowMs?: () => number;
}

/** A browser's permission to see the page: every call needs both halves. */
export interface Session {
  /** `Set-Cookie`: out of reach of scripts, and never sent by pages of other sites. */
  readonly cookie: string;
  /**
   * Sent in a header that only the page's own script sets. Cookies are shared by all ports of a host, so another user's
   * server on this machine may receive the cookie, but never this half.
   */
  readonly key: string;
  readonly expiresMs: number;
}

/** What a call proves itself by. */
export interface SessionProof {
  readonly method: string;
  readonly target: string;
  readonly cookie: string | undefined;
  /** One of the two. */
  readonly key: string | undefined;
  readonly signature: string | undefined;
}

// A page may stay open for days.
const sessionMs = 7 * 24 * 3_600_000;
const tokenMs = 60_000;
const maxTokens = 20;

/** A session that a call has proved. */
interface ProvedSession {
  readonly id: string;
  readonly expiresMs: number;
}

/**
 * Sessions are signed, not stored: none is lost with a restart, and nobody can fill the memory with them. Only those
 * that were ended early are stored, until they would have expired.
 */
export class Sessions {
  /** Part of what pages sign, so that no signature outlives this process. */
  readonly nonce = randomBytes(16).toString('hex');
  readonly #options: SessionOptions;
  readonly #nowMs: () => number;
  /** When each one-time token expires, by its hash. */
  readonly #tokens = new Map<string, number>();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
  }

  /** A token that opens one session within a minute. */
  issueToken(): { readonly token: string; readonly expiresMs: number } {
    const token = randomBytes(32).toString('hex');
    const expiresMs = this.#nowMs() + tokenMs;
    if (this.#tokens.size >= maxTokens) this.#tokens.delete(this.#tokens.keys().next().value as string);
    this.#tokens.set(digest(token), expiresMs);
    return { token, expiresMs };
  }

  /** Whether the token is valid; this uses it up. */
  redeem(token: string): boolean {
    const key = digest(token);
    const expiresMs = this.#tokens.get(key) ?? 0;
    this.#tokens.delete(key);
    return expiresMs > this.#nowMs();
  }

  open(): Session {
    const expiresMs = this.#nowMs() + sessionMs;
    const facts = `${expiresMs}.${randomBytes(16).toString('hex')}`;
    const value = `${facts}.${this.#sign('cookie', facts)}`;
    const cookie = `${this.#cookieName}=${value}; Path=/_/; HttpOnly; SameSite=Strict; Max-Age=${sessionMs / 1_000}`;
    return { cookie, key: this.#sign('page', facts), expiresMs };
  }

  /** `Set-Cookie` that ends a session in the browser. */
  get endingCookie(): string {
    return `${this.#cookieName}=; Path=/_/; HttpOnly; SameSite=Strict; Max-Age=0`;
  }

  isValid(proof: SessionProof): boolean {
    return this.#find(proof).length > 0;
  }

  /** Ends the session that the call proves. */
  end(proof: SessionProof): void {
    for (const { id, expiresMs } of this.#find(proof)) this.#options.store.end(id, expiresMs);
  }

  /** Ends every session of every browser, and withdraws the links that were not opened yet. */
  endAll(): void {
    this.#tokens.clear();
    this.#options.store.renew();
  }

  #find(proof: SessionProof): readonly ProvedSession[] {
    return (proof.cookie ?? '')
      .split(';')
      .map((pair) => pair.trim().split('='))
      .filter(([name]) => name === this.#cookieName)
      .slice(0, 4)
      .flatMap(([, value = '']) => this.#prove(value, proof) ?? []);
  }

  /** Cookies are shared by all ports of a host, and so by all gateways on a machine. */
  get #cookieName(): string {
    return `gateway-inspector-${this.#options.port()}`;
  }

  #prove(value: string, { method, target, key, signature }: SessionProof): ProvedSession | undefined {
    const parts = /^((\d{1,15})\.([0-9a-f]{32}))\.([0-9a-f]{64})$/.exec(value) ?? [];
    const [, facts, expires, id, signed] = parts;
    if (facts === undefined || id === undefined || signed === undefined) return undefined;
    const pageKey = this.#sign('page', facts);
    const isPage =
      key === undefined
        ? isSame(signature ?? '', hmac(pageKey, signedText({ nonce: this.nonce, method, target })))
        : isSame(key, pageKey);
    const expiresMs = Number(expires);
    if (!isPage || !isSame(signed, this.#sign('cookie', facts)) || expiresMs <= this.#nowMs())
      return undefined;
    return this.#options.store.isEnded(id) ? undefined : { id, expiresMs };
  }

  #sign(half: 'cookie' | 'page', facts: string): string {
    const { store, port } = this.#options;
    return hmac(store.secret, `${half} ${port()} ${facts}`);
  }
}

/** Compares in constant time. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(
    createHash('sha256').update(one).digest(),
    createHash('sha256').update(other).digest(),
  );
}

function hmac(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
