import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import type { HttpRequest } from '../../http/request.ts';
import { tokenHeader } from '../contract/actions.ts';

const windowMs = 60_000;
const maxFailures = 10;

/** Limits wrong passwords: few enough to stop programs, enough that people don't notice. */
export class PageThrottle {
  #failures: number[] = [];
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Throws inspector.busy if too many were wrong within a minute. */
  check(): void {
    const sinceMs = this.#nowMs() - windowMs;
    this.#failures = this.#failures.filter((atMs) => atMs > sinceMs);
    if (this.#failures.length < maxFailures) return;
    throw new GatewayError('inspector.busy', 'too many wrong passwords; wait a minute', { retryAfterS: 60 });
  }

  noteFailure(): void {
    this.#failures.push(this.#nowMs());
  }
}

/** A browser's permission to see the page: every call needs both halves. */
export interface PageSession {
  /** `Set-Cookie`: out of reach of scripts, and never sent by pages of other sites. */
  readonly cookie: string;
  /**
   * Sent in a header that only the page's own script sets. Cookies are shared by all ports of a host, so another user's
   * server on this machine may receive the cookie, but never this half.
   */
  readonly token: string;
}

type Halves = Pick<HttpRequest, 'header'>;

// A page may stay open for days.
const sessionMs = 7 * 24 * 3_600_000;
const linkMs = 60_000;
const maxLinks = 20;
const maxSessions = 100;

/** The sessions of this process, which end with it: what another process on its port is sent afterwards is worth nothing. */
export class PageSessions {
  readonly #port: () => number;
  readonly #nowMs: () => number;
  /** When each one-time token of a link expires, by its hash. */
  readonly #links = new Map<string, number>();
  /** By the hash of the cookie's value. */
  readonly #open = new Map<string, { readonly token: string; readonly expiresMs: number }>();

  constructor(port: () => number, nowMs: () => number = Date.now) {
    this.#port = port;
    this.#nowMs = nowMs;
  }

  /** A token that opens one session within a minute. */
  issueLink(): string {
    const token = randomToken();
    addBounded(this.#links, digest(token), this.#nowMs() + linkMs, maxLinks);
    return token;
  }

  /** Whether the token is valid; this uses it up. */
  redeem(token: string): boolean {
    const key = digest(token);
    const expiresMs = this.#links.get(key) ?? 0;
    this.#links.delete(key);
    return expiresMs > this.#nowMs();
  }

  open(): PageSession {
    const value = randomToken();
    const token = randomToken();
    addBounded(this.#open, digest(value), { token, expiresMs: this.#nowMs() + sessionMs }, maxSessions);
    return { cookie: this.#cookie(value, sessionMs), token };
  }

  /** `Set-Cookie` that ends a session in the browser. */
  get endingCookie(): string {
    return this.#cookie('', 0);
  }

  /** Throws session.required. */
  require(request: Halves): void {
    if (this.#find(request).length > 0) return;
    throw new GatewayError('session.required', 'open the page by the link that "gateway open" prints');
  }

  /** Ends the session of a call. */
  end(request: Halves): void {
    for (const key of this.#find(request)) this.#open.delete(key);
  }

  /** Ends every session of every browser, and withdraws the links that were not opened yet. */
  endAll(): void {
    this.#links.clear();
    this.#open.clear();
  }

  /** The keys of the sessions that a call has both halves of. */
  #find(request: Halves): readonly string[] {
    const token = request.header(tokenHeader) ?? '';
    const pairs = (request.header('cookie') ?? '').split(';').map((pair) => pair.trim().split('='));
    const keys = pairs.flatMap(([name, value = '']) => (name === this.#cookieName ? [digest(value)] : []));
    return keys.slice(0, 4).filter((key) => {
      const session = this.#open.get(key);
      return session !== undefined && isSameSecret(token, session.token) && session.expiresMs > this.#nowMs();
    });
  }

  /** Cookies are shared by all ports of a host, and so by all gateways on a machine. */
  get #cookieName(): string {
    return `gateway-inspector-${this.#port()}`;
  }

  #cookie(value: string, ms: number): string {
    return `${this.#cookieName}=${value}; Path=/_/; HttpOnly; SameSite=Strict; Max-Age=${ms / 1_000}`;
  }
}

/** Compares in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(digest(one)), Buffer.from(digest(other)));
}

/** The oldest ones are removed, so that the memory can't be filled. */
export function addBounded<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  if (map.size >= most) map.delete(map.keys().next().value as string);
  map.set(key, value);
}

function randomToken(): string {
  return randomBytes(32).toString('hex');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
