import type { Authorization, Authorizer } from './authorizer.ts';
import { CredentialCache } from './credential-cache.ts';

/** An OAuth 2 access token. */
export interface AccessToken {
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
