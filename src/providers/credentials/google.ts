import { type AuthorizedHost, type Authorizer, requirePackage } from './authorizer.ts';
import { bearerAuthorizer } from './credential-cache.ts';

/** The part of `google-auth-library` that is used. */
interface AuthLibrary {
  readonly gcpMetadata: {
    /** Forgets that the metadata server did not answer. */
    resetIsAvailableCache(): void;
  };
  readonly GoogleAuth: new (options: {
    readonly scopes: string;
    readonly projectId?: string;
  }) => {
    getClient(): Promise<{
      getAccessToken(): Promise<{ readonly token?: string | null }>;
      readonly credentials: { readonly expiry_date?: number | null };
      /** Who pays for a user's own calls, as `gcloud auth application-default` sets it. */
      readonly quotaProjectId?: string;
    }>;
  };
}

/** Google's scope for Vertex AI, as its own SDK asks for it. */
const scopes = 'https://www.googleapis.com/auth/cloud-platform';

/** Application default credentials: a service account's file, workload identity, the user's own, the metadata server. */
export function googleAuthorizer({ name, url }: AuthorizedHost): Authorizer {
  // Otherwise the library asks another of Google's APIs for the project, which may not be allowed or reachable.
  const projectId = /\/projects\/([^/]+)/.exec(url.pathname)?.[1];
  const fetch = async () => {
    const { GoogleAuth, gcpMetadata } = requirePackage('google', { provider: name }) as AuthLibrary;
    // A new one each time, so that it keeps nothing that was refused, or that a new login has replaced.
    gcpMetadata.resetIsAvailableCache();
    const client = await new GoogleAuth({ scopes, ...(projectId && { projectId }) }).getClient();
    const { token } = await client.getAccessToken();
    if (!token) throw new Error('there was no access token in the answer');
    const { quotaProjectId: payer, credentials } = client;
    const headers = payer === undefined ? [] : ['x-goog-user-project', payer];
    return { token, headers, endsAtMs: credentials.expiry_date ?? Date.now() + unknownLifeMs };
  };
  return bearerAuthorizer(
    fetch,
    `provider ${name}: there is no access token of Google: run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS to a service account's file`,
  );
}

/** How long a token is used that doesn't say when it ends. */
const unknownLifeMs = 10 * 60_000;
