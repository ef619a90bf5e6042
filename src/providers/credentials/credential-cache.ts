import { GatewayError } from '../../errors.ts';
import type { Authorization, Authorizer } from './authorizer.ts';

/** What was fetched, and until when it can be used. */
export interface Fetched<Value> {
  readonly value: Value;
  /** Milliseconds since 1970; infinity if it doesn't end. */
  readonly endsAtMs: number;
}

interface CacheOptions<Value> {
  /** Gets a new one from wherever it comes, each time anew. */
  readonly fetch: () => Promise<Fetched<Value>>;
  /** What failed, and what its owner can do, when `fetch` fails. */
  readonly failure: string;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** Milliseconds: a metadata server that never answers must not hold requests. */
  readonly patienceMs?: number;
}

/** A request that takes longer than this to arrive would come with a token that has ended. */
const marginMs = 30_000;
/** From here on a new one is fetched while the old one is used. */
const earlyMs = 5 * 60_000;
/** Least time between two fetches in the background, and how long a failure is the answer for all who ask. */
const restMs = { background: 30_000, failure: 2_000 } as const;
/** Credentials that are refused although they are newer than this are not fetched again: they lack permissions. */
const youngMs = 60_000;

/**
 * Keeps a credential that ends: it is renewed before that while the old one is used, and all who wait for one wait for
 * the same fetch.
 */
export class CredentialCache<Value> {
  readonly #options: CacheOptions<Value>;
  readonly #clock: () => number;
  #known: (Fetched<Value> & { readonly fetchedAtMs: number }) | undefined;
  #pending: Promise<Value> | undefined;
  #beganAtMs = Number.NEGATIVE_INFINITY;
  #failed: { readonly error: GatewayError; readonly untilMs: number } | undefined;

  constructor(options: CacheOptions<Value>) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
  }

  /** A value that can still be used for a request. Rejects with provider.credentials_missing. */
  async get(): Promise<Value> {
    const nowMs = this.#clock();
    const known = this.#known;
    if (known === undefined || nowMs > known.endsAtMs - marginMs) return this.#renew(nowMs);
    if (nowMs > known.endsAtMs - earlyMs && nowMs - this.#beganAtMs > restMs.background) {
      void this.#renew(nowMs).catch(() => undefined); // the old one is still good
    }
    return known.value;
  }

  /** A provider refused a value that was issued `ageMs` ago. Returns whether there may be a new one now. */
  refused(ageMs: number): boolean {
    const known = this.#known;
    // Another request that was refused with it has had it fetched anew.
    if (known === undefined) return true;
    const livedMs = this.#clock() - known.fetchedAtMs;
    if (livedMs < ageMs) return true;
    if (livedMs < youngMs) return false;
    this.#known = undefined;
    return true;
  }

  #renew(nowMs: number): Promise<Value> {
    if (this.#failed !== undefined && nowMs < this.#failed.untilMs) return Promise.reject(this.#failed.error);
    this.#pending ??= this.#fetch(nowMs).finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #fetch(nowMs: number): Promise<Value> {
    this.#beganAtMs = nowMs;
    try {
      const fetched = await withDeadline(this.#options.fetch(), this.#options.patienceMs ?? 10_000);
      this.#known = { ...fetched, fetchedAtMs: this.#clock() };
      this.#failed = undefined;
      return fetched.value;
    } catch (cause) {
      const error =
        cause instanceof GatewayError
          ? cause
          : new GatewayError('provider.credentials_missing', this.#options.failure, { cause });
      this.#failed = { error, untilMs: this.#clock() + restMs.failure };
      throw error;
    }
  }
}

function withDeadline<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`nothing came within ${ms} ms`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** An OAuth 2 access token. */
interface AccessToken {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly endsAtMs: number;
  /** Flat list of what goes along with it. */
  readonly headers?: readonly string[];
}

/** Authorizes requests by access tokens; `failure` says what its owner can do if none can be had. */
export function bearerAuthorizer(fetch: () => Promise<AccessToken>, failure: string): Authorizer {
  const cache = new CredentialCache<Authorization>({
    failure,
    fetch: async () => {
      const { token, endsAtMs, headers = [] } = await fetch();
      const authorization = ['authorization', `Bearer ${token}`, ...headers];
      return { value: { headers: authorization, secrets: [token] }, endsAtMs };
    },
  });
  return { authorize: () => cache.get(), refused: ({ ageMs }) => cache.refused(ageMs) };
}
