import type { AuthorizedHost, Authorizer } from './authorizer.ts';

/** Where a kind of credentials is loaded from, when a provider first needs it: to add a kind, write its file and a line here. */
const kinds = {
  aws: async (host: AuthorizedHost) => (await import('./aws.ts')).awsAuthorizer(host),
  azure: async (host: AuthorizedHost) => (await import('./azure.ts')).azureAuthorizer(host),
  google: async (host: AuthorizedHost) => (await import('./google.ts')).googleAuthorizer(host),
} as const;

export type CredentialKind = keyof typeof kinds;

export function isCredentialKind(name: string): name is CredentialKind {
  return Object.hasOwn(kinds, name);
}

/** Nothing of a cloud is loaded before the first request for it. */
export function createAuthorizer(kind: CredentialKind, host: AuthorizedHost): Authorizer {
  let loading: Promise<Authorizer> | undefined;
  let loaded: Authorizer | undefined;
  return {
    authorize: async (request) => {
      // One for all who come meanwhile: each has a cache of its own.
      loading ??= kinds[kind](host);
      loaded = await loading;
      return loaded.authorize(request);
    },
    refused: (refusal) => loaded?.refused(refusal) === true,
  };
}
